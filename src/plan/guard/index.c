// SPDX-License-Identifier: MIT
// Reader of git's index file (gitformat-index(5)), versions 2 to 4.
//
// Theory of operation: a box can write the index, so every byte is hostile. The reader must see the
// same entries as every git, or report damage. The ways to show git something else are these:
// - The flags have the length of a path, which can differ from the place of its NUL.
// - A large index is read by several threads. They start where the extensions EOIE and IEOT say,
//   and in version 4 the first path of a block shares nothing with the path before it.
// - A split index has only a part of the entries.
// The entries are walked first to find the extensions, then to compare them with IEOT, and last to
// pass them on. No walk allocates per entry: paths of version 4 are built in one buffer.
#include "plan/guard/index.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

enum {
	HEADER_SIZE = 12,
	STAT_SIZE = 40, // times, device, inode, mode, owner, size
	MODE_OFFSET = 24,
	FLAGS_SIZE = 2,
	PADDING = 8,
	EXTENSION_HEADER = 8,
	EOIE_DATA = 24, // an offset and a SHA-1
	IEOT_HEADER = 4,
	IEOT_ROW = 8,
	FIRST_VERSION = 2,
	COMPRESSED_VERSION = 4,
	FLAG_EXTENDED = 0x4000,
	FLAG_LENGTH = 0x0fff,
	FLAGS_KEPT = 0xb000,     // assume-unchanged and the stage
	EXTENDED_KNOWN = 0x6000, // skip-worktree, intent-to-add; git refuses others
};

struct reader {
	const unsigned char *bytes;
	size_t end; // of entries and extensions; the checksum follows
	size_t at;
	size_t hash_size;
	uint32_t version;
	uint32_t count;
	const unsigned char *blocks; // the rows of IEOT; NULL: none
	size_t block_count;
	bool has_empty;   // an entry has no path, as in a split index
	struct text path; // of the last entry in version 4
};

// A found entry.
struct entry {
	size_t start;
	const char *path;
	size_t length;
	uint32_t mode;
	uint32_t flags; // without the length; the second half is above the first
	const unsigned char *id;
	bool shares; // its path begins with a part of the path before it
};

static uint32_t get_16(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t get_32(const unsigned char *bytes)
{
	return get_16(bytes) << 16 | get_16(bytes + 2);
}

// Reads how many bytes of the last path the next one does not share.
static bool read_removed(struct reader *reader, size_t *ret)
{
	size_t value = 0;
	unsigned char c = 0x80;

	for (bool first = true; c & 0x80; first = false) {
		if (reader->at == reader->end || value >= SIZE_MAX >> 8)
			return false;
		c = reader->bytes[reader->at++];
		value = ((first ? 0 : value + 1) << 7) | (c & 0x7f);
	}
	*ret = value;
	return true;
}

// Builds the path of an entry of version 4 behind the shared part of the last one.
static bool read_compressed(struct reader *reader, struct entry *entry)
{
	struct text *path = &reader->path;
	const unsigned char *rest;
	const unsigned char *nul;
	size_t removed;

	if (!read_removed(reader, &removed) || removed > path->length)
		return false;
	rest = reader->bytes + reader->at;
	nul = memchr(rest, 0, reader->end - reader->at);
	if (!nul)
		return false;
	path->length -= removed;
	entry->shares = path->length > 0;
	text_add_bytes(path, (const char *)rest, (size_t)(nul - rest));
	entry->path = text_get(path);
	entry->length = path->length;
	reader->at += (size_t)(nul - rest) + 1;
	return true;
}

// Finds the path of an entry of version 2 or 3, and its padding.
static bool read_plain(struct reader *reader, struct entry *entry)
{
	const unsigned char *path = reader->bytes + reader->at;
	const unsigned char *nul = memchr(path, 0, reader->end - reader->at);
	size_t size;

	if (!nul)
		return false;
	entry->path = (const char *)path;
	entry->length = (size_t)(nul - path);
	size = (reader->at - entry->start + entry->length + PADDING) / PADDING * PADDING;
	if (size > reader->end - entry->start)
		return false;
	reader->at = entry->start + size;
	return true;
}

static bool read_entry(struct reader *reader, struct entry *entry)
{
	size_t fixed = STAT_SIZE + reader->hash_size + FLAGS_SIZE;
	const unsigned char *start = reader->bytes + reader->at;
	uint32_t flags;
	uint32_t length;

	*entry = (struct entry){ .start = reader->at };
	// git reads the second half of the flags in every version.
	if (reader->end - reader->at < fixed + FLAGS_SIZE)
		return false;
	entry->mode = get_32(start + MODE_OFFSET);
	entry->id = start + STAT_SIZE;
	flags = get_16(start + fixed - FLAGS_SIZE);
	reader->at += fixed;
	entry->flags = flags & FLAGS_KEPT;
	if (flags & FLAG_EXTENDED) {
		if (get_16(start + fixed) & ~(uint32_t)EXTENDED_KNOWN)
			return false;
		entry->flags |= get_16(start + fixed) << 16;
		reader->at += FLAGS_SIZE;
	}
	if (!(reader->version == COMPRESSED_VERSION ? read_compressed(reader, entry)
						    : read_plain(reader, entry)))
		return false;
	length = flags & FLAG_LENGTH;
	return length == FLAG_LENGTH ? entry->length >= length : entry->length == length;
}

// Returns whether a block of IEOT begins with this entry if one has to, and moves on to the next
// block. `left` counts the entries of the block.
static bool check_block(const struct reader *reader, const struct entry *entry, size_t *block,
			uint32_t *left)
{
	const unsigned char *row;

	if (!reader->blocks)
		return true;
	if (!*left) {
		if (*block == reader->block_count)
			return false;
		row = reader->blocks + *block * IEOT_ROW;
		*left = get_32(row + 4);
		++*block;
		if (!*left || get_32(row) != entry->start || entry->shares)
			return false;
	}
	--*left;
	return true;
}

// Walks all entries, or up to that with which the handler ends the walk.
static bool walk_entries(struct reader *reader, git_index_handler handle, void *context)
{
	size_t block = 0;
	uint32_t left = 0;

	reader->at = HEADER_SIZE;
	reader->path.length = 0;
	for (uint32_t i = 0; i < reader->count; i++) {
		struct entry entry;

		if (!read_entry(reader, &entry) || !check_block(reader, &entry, &block, &left))
			return false;
		reader->has_empty |= !entry.length;
		if (handle && !handle(context, &(struct git_index_entry){ .path = entry.path,
									  .length = entry.length,
									  .mode = entry.mode,
									  .id = entry.id,
									  .status = reader->bytes +
										    entry.start }))
			return true;
	}
	return !left && block == reader->block_count;
}

// Stores the blocks that threads of git would read. git ignores other versions of the extension.
static bool store_blocks(struct reader *reader, const unsigned char *data, size_t size)
{
	if (reader->blocks || size < IEOT_HEADER || (size - IEOT_HEADER) % IEOT_ROW != 0)
		return false;
	if (get_32(data) != 1 || size == IEOT_HEADER)
		return false;
	reader->blocks = data + IEOT_HEADER;
	reader->block_count = (size - IEOT_HEADER) / IEOT_ROW;
	return true;
}

// Returns whether the extension EOIE, which git searches from the end of the file, says where the
// extensions begin. git finds it by its place, so it may also be data of another extension.
static bool check_end_of_entries(const struct reader *reader, size_t extensions)
{
	const unsigned char *eoie;

	if (reader->end < HEADER_SIZE + EXTENSION_HEADER + EOIE_DATA)
		return true;
	eoie = reader->bytes + reader->end - EXTENSION_HEADER - EOIE_DATA;
	return memcmp(eoie, "EOIE", 4) != 0 || get_32(eoie + 4) != EOIE_DATA ||
	       get_32(eoie + EXTENSION_HEADER) == extensions;
}

// Judges one extension. git refuses unknown ones whose name begins with a small letter.
static enum git_index_result read_extension(struct reader *reader, const unsigned char *name,
					    size_t size)
{
	bool ok = (*name >= 'A' && *name <= 'Z') || memcmp(name, "sdir", 4) == 0;

	if (memcmp(name, "link", 4) == 0)
		return GIT_INDEX_SPLIT;
	if (memcmp(name, "IEOT", 4) == 0)
		ok = store_blocks(reader, name + EXTENSION_HEADER, size);
	return ok ? GIT_INDEX_OK : GIT_INDEX_DAMAGED;
}

// Reads the extensions behind the entries. They end exactly at the checksum.
static enum git_index_result read_extensions(struct reader *reader)
{
	enum git_index_result result = GIT_INDEX_OK;

	if (!check_end_of_entries(reader, reader->at))
		return GIT_INDEX_DAMAGED;
	while (result == GIT_INDEX_OK && reader->at < reader->end) {
		const unsigned char *start = reader->bytes + reader->at;
		size_t left = reader->end - reader->at;
		size_t size = left < EXTENSION_HEADER ? left : get_32(start + 4);

		if (left < EXTENSION_HEADER || size > left - EXTENSION_HEADER)
			return GIT_INDEX_DAMAGED;
		result = read_extension(reader, start, size);
		reader->at += EXTENSION_HEADER + size;
	}
	return result;
}

enum git_index_result git_index_walk(const unsigned char *bytes, size_t size, size_t hash_size,
				     struct arena *arena, git_index_handler handle, void *context)
{
	struct reader reader = { .bytes = bytes, .hash_size = hash_size, .path.arena = arena };
	enum git_index_result result;

	if (size < HEADER_SIZE + hash_size || memcmp(bytes, "DIRC", 4) != 0)
		return GIT_INDEX_DAMAGED;
	reader.end = size - hash_size;
	reader.version = get_32(bytes + 4);
	reader.count = get_32(bytes + 8);
	if (reader.version < FIRST_VERSION || reader.version > COMPRESSED_VERSION ||
	    !walk_entries(&reader, NULL, NULL))
		return GIT_INDEX_DAMAGED;
	result = read_extensions(&reader);
	if (result != GIT_INDEX_OK)
		return result;
	// Nothing is passed on before the blocks are known to be right.
	if (reader.has_empty || (reader.blocks && !walk_entries(&reader, NULL, NULL)))
		return GIT_INDEX_DAMAGED;
	walk_entries(&reader, handle, context);
	return GIT_INDEX_OK;
}

enum git_index_result git_index_describe(const unsigned char *bytes, size_t size, size_t hash_size,
					 struct arena *arena, struct text *out)
{
	enum git_index_result result = git_index_walk(bytes, size, hash_size, arena, NULL, NULL);
	struct reader reader = { .bytes = bytes, .hash_size = hash_size, .path.arena = arena };
	struct entry entry;

	if (result != GIT_INDEX_OK)
		return result;
	reader.end = size - hash_size;
	reader.version = get_32(bytes + 4);
	reader.count = get_32(bytes + 8);
	reader.at = HEADER_SIZE;
	for (uint32_t i = 0; i < reader.count && read_entry(&reader, &entry); i++) {
		text_printf(out, "%x %x ", (unsigned)entry.mode, (unsigned)entry.flags);
		text_add_bytes(out, (const char *)entry.id, hash_size);
		text_add_bytes(out, entry.path, entry.length + 1);
	}
	return GIT_INDEX_OK;
}

struct git_index_status git_index_status_of(const struct git_index_entry *entry)
{
	const unsigned char *at = entry->status;

	return (struct git_index_status){
		.ctime = get_32(at),
		.ctime_ns = get_32(at + 4),
		.mtime = get_32(at + 8),
		.mtime_ns = get_32(at + 12),
		.device = get_32(at + 16),
		.inode = get_32(at + 20),
		.mode = get_32(at + 24),
		.user = get_32(at + 28),
		.group = get_32(at + 32),
		.size = get_32(at + 36),
	};
}
