// SPDX-License-Identifier: MIT
// Standard streams that are not terminals.
//
// Theory of operation: a descriptor gives access to more than its bytes. A Unix socket carries
// other descriptors, a file can be opened again through /proc with other rights, a pipe can be
// opened again at its other end, and flags such as O_NONBLOCK belong to every process that shares
// the open file. So the box gets a pipe of its own for each of descriptors 0 to 2 that is a file, a
// pipe or a socket, and the supervisor copies bytes in its poll loop. One pipe serves descriptors 1
// and 2 if both are the same file, so the order of their output is kept. A pipe as standard input
// is opened again instead: bytes that claudebox had read could not be given back to the next
// program that reads it. claudebox never changes the flags of the caller's descriptors.
#include "terminal/streams.h"

#include "base/arena.h"
#include "base/error.h"
#include "sys/cleanup.h"
#include "sys/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024, STREAM_COUNT = STDERR_FILENO + 1, READS_PER_POLL = 4 };

struct stream {
	int user; // the descriptor of the caller, or the same file opened again; -1: not copied
	int pipe; // claudebox's end of the pipe; -1: closed
	int box;  // the end of the box; kept open if unread input is given back
	mode_t kind;
	int error; // errno of the user's side
	size_t at, length;
	char *bytes;
};

struct streams {
	struct stream all[STREAM_COUNT];
};

static void close_fd(int *fd)
{
	cleanup_close(fd);
	*fd = -1;
}

// Opens the caller's pipe again, so that its flags are not shared. Returns -1 if that is not
// permitted: the pipe was created by another user.
static int reopen(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	// Without O_NONBLOCK, opening a named pipe waits for its other end.
	return open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

// Opens standard input again if it is a pipe.
static bool reopen_input(struct stream *stream)
{
	stream->box = reopen(STDIN_FILENO, O_RDONLY);
	return stream->box >= 0 && fcntl(stream->box, F_SETFL, 0) == 0;
}

static bool open_pipe(struct stream *stream, bool input, struct arena *arena)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	stream->pipe = ends[input ? 1 : 0];
	stream->box = ends[input ? 0 : 1];
	stream->bytes = arena_alloc(arena, CHUNK);
	return fcntl(stream->pipe, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_stream(struct stream *stream, int fd, struct arena *arena)
{
	bool input = fd == STDIN_FILENO;
	struct stat status;

	*stream = (struct stream){ .user = -1, .pipe = -1, .box = -1 };
	if (fstat(fd, &status) < 0 || S_ISCHR(status.st_mode))
		return true;
	stream->kind = status.st_mode & S_IFMT;
	if (input && stream->kind == S_IFIFO && reopen_input(stream))
		return true;
	stream->user = !input && stream->kind == S_IFIFO ? reopen(fd, O_WRONLY) : -1;
	if (stream->user < 0)
		stream->user = fd;
	return open_pipe(stream, input, arena);
}

static bool same_file(int a, int b)
{
	struct stat first;
	struct stat second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

struct streams *streams_open(struct arena *arena, struct error *error)
{
	struct streams *streams = arena_alloc(arena, sizeof(*streams));
	sigset_t broken_pipe;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stream *stream = &streams->all[fd];

		*stream = (struct stream){ .user = -1, .pipe = -1, .box = -1 };
		if (fd == STDERR_FILENO && streams->all[STDOUT_FILENO].pipe >= 0 &&
		    same_file(STDOUT_FILENO, STDERR_FILENO))
			continue;
		if (!open_stream(stream, fd, arena)) {
			error_set(error, "cannot create a pipe for the box: %s", strerror(errno));
			return NULL;
		}
	}
	// A write to a closed pipe fails instead.
	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &broken_pipe, NULL);
	return streams;
}

int streams_box_fd(const struct streams *streams, int number)
{
	const struct stream *all = streams ? streams->all : NULL;

	if (!all)
		return -1;
	if (number == STDERR_FILENO && all[number].box < 0 && all[STDOUT_FILENO].pipe >= 0 &&
	    same_file(STDOUT_FILENO, STDERR_FILENO))
		return all[STDOUT_FILENO].box;
	return all[number].box;
}

// Returns whether input that the box does not read is given back: a file has an offset.
static bool is_given_back(const struct streams *streams, int number)
{
	return number == STDIN_FILENO && streams->all[number].kind == S_IFREG;
}

void streams_start(struct streams *streams)
{
	for (int i = 0; streams && i < STREAM_COUNT; i++)
		if (!is_given_back(streams, i))
			close_fd(&streams->all[i].box);
}

void streams_prepare_poll(const struct streams *streams, struct pollfd slots[STREAMS_POLL_SLOTS])
{
	struct pollfd *pair = slots;

	for (int i = 0; i < STREAM_COUNT; i++, pair += 2) {
		const struct stream *stream = streams ? &streams->all[i] : NULL;
		bool input = i == STDIN_FILENO;
		struct pollfd *from = &pair[input ? 0 : 1];
		struct pollfd *to = &pair[input ? 1 : 0];
		bool active = stream && stream->pipe >= 0;

		pair[0] = (struct pollfd){ .fd = active ? stream->user : -1 };
		pair[1] = (struct pollfd){ .fd = active ? stream->pipe : -1 };
		if (active && stream->length)
			to->events = POLLOUT;
		else if (active)
			from->events = POLLIN;
		// A closed socket is reported again and again while data waits for the box.
		if (active && input && stream->length)
			from->fd = -1;
	}
}

// Reads into the empty buffer. Returns 0 at the end of the stream, -1 with errno.
static ssize_t stream_read(struct stream *stream, int from)
{
	ssize_t got = stream->kind == S_IFSOCK && from == stream->user
			      ? recv(from, stream->bytes, CHUNK, MSG_DONTWAIT)
			      : read(from, stream->bytes, CHUNK);

	if (got > 0)
		stream->length = (size_t)got;
	return got;
}

// Writes as much of the buffer as possible. Returns false with errno if the other side is closed.
static bool stream_write(struct stream *stream, int to)
{
	bool user = to == stream->user;

	while (stream->at < stream->length) {
		const char *bytes = stream->bytes + stream->at;
		size_t count = stream->length - stream->at;
		struct pollfd ready = { .fd = to, .events = POLLOUT };
		ssize_t done;

		if (user && stream->kind == S_IFIFO) {
			// The caller's own descriptor blocks; a ready pipe accepts PIPE_BUF bytes.
			count = count < PIPE_BUF || fcntl(to, F_GETFL) & O_NONBLOCK ? count
										    : PIPE_BUF;
			if (poll(&ready, 1, 0) == 0)
				return true;
		}
		done = user && stream->kind == S_IFSOCK
			       ? send(to, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL)
			       : write(to, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == EAGAIN;
		stream->at += (size_t)done;
	}
	stream->at = stream->length = 0;
	return true;
}

// Moves the offset of a file back over the bytes that the box has not read, so that the next
// program reads them.
static void give_back(struct stream *stream)
{
	int unread = 0;

	if (ioctl(stream->box, FIONREAD, &unread) == 0)
		lseek(stream->user, -(off_t)(stream->length - stream->at) - unread, SEEK_CUR);
	close_fd(&stream->box);
}

static void copy_input(struct stream *stream, short user_events, short pipe_events)
{
	ssize_t got;

	if (pipe_events & POLLERR) { // the box has closed its standard input
		close_fd(&stream->pipe);
		return;
	}
	if (!stream->length && user_events) {
		got = stream_read(stream, stream->user);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
			close_fd(&stream->pipe); // the box reads the rest, and then the end
			return;
		}
	}
	if (stream->length && !stream_write(stream, stream->pipe))
		close_fd(&stream->pipe);
}

// Ends a stream whose reader is closed: the box gets SIGPIPE when it writes.
static void close_output(struct stream *stream, int error)
{
	if (error != EPIPE && error != ECONNRESET)
		stream->error = error;
	stream->at = stream->length = 0;
	close_fd(&stream->pipe);
}

static void copy_output(struct stream *stream, short user_events, short pipe_events)
{
	if (!stream_write(stream, stream->user)) {
		close_output(stream, errno);
		return;
	}
	if (user_events & (POLLERR | POLLHUP | POLLNVAL)) {
		close_output(stream, EPIPE);
		return;
	}
	for (int i = 0; i < READS_PER_POLL && pipe_events && !stream->length; i++) {
		ssize_t got = stream_read(stream, stream->pipe);

		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			close_fd(&stream->pipe);
		if (got <= 0)
			return;
		if (!stream_write(stream, stream->user)) {
			close_output(stream, errno);
			return;
		}
	}
}

void streams_handle_poll(struct streams *streams, const struct pollfd slots[STREAMS_POLL_SLOTS])
{
	const struct pollfd *pair = slots;

	for (int i = 0; streams && i < STREAM_COUNT; i++, pair += 2) {
		struct stream *stream = &streams->all[i];

		if (stream->pipe < 0 || (!pair[0].revents && !pair[1].revents))
			continue;
		if (i == STDIN_FILENO)
			copy_input(stream, pair[0].revents, pair[1].revents);
		else
			copy_output(stream, pair[0].revents, pair[1].revents);
	}
}

// Waits until the user's side accepts more. Returns false if a signal asks claudebox to end.
static bool wait_for_reader(const struct stream *stream, int signals)
{
	struct pollfd slots[] = { { .fd = stream->user, .events = POLLOUT },
				  { .fd = signals, .events = POLLIN } };

	while (poll(slots, 2, -1) < 0)
		if (errno != EINTR)
			return false;
	return !slots[1].revents;
}

// Writes the output that is left in the pipe. All processes of the box have ended.
static void flush_output(struct stream *stream, int signals)
{
	while (stream->pipe >= 0) {
		copy_output(stream, 0, POLLIN);
		if (stream->pipe >= 0 && stream->length) {
			if (!wait_for_reader(stream, signals))
				return;
		} else if (stream->pipe >= 0) {
			struct pollfd more = { .fd = stream->pipe, .events = POLLIN };

			if (poll(&more, 1, 0) <= 0)
				return;
		}
	}
}

static int open_end_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void streams_close(struct streams *streams)
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };
	CLEANUP_FD int signals = -1;

	if (!streams)
		return;
	streams_start(streams);
	signals = open_end_signals();
	if (is_given_back(streams, STDIN_FILENO))
		give_back(&streams->all[STDIN_FILENO]);
	close_fd(&streams->all[STDIN_FILENO].pipe);
	for (int i = STDOUT_FILENO; i < STREAM_COUNT; i++) {
		struct stream *stream = &streams->all[i];

		flush_output(stream, signals);
		close_fd(&stream->pipe);
		if (stream->user > STDERR_FILENO)
			close_fd(&stream->user);
		if (stream->error)
			output_message("claudebox", "cannot write to %s: %s", names[i],
				       strerror(stream->error));
	}
}
