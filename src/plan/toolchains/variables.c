// SPDX-License-Identifier: MIT
// The table of variables that name the directory of a toolchain. A variable passes if the box has
// its directory; a path is no secret. Programs prefer these variables to PATH, so without them they
// find another version, or none.
#include "plan/toolchains/variables.h"

#include "base/arena.h"

const struct directory_variable_row directory_variables[] = {
	{ "JAVA_HOME", "a Java installation" },
	{ "JDK_HOME", "a Java installation" },
	{ "JRE_HOME", "a Java installation" },
	{ "GRAALVM_HOME", "a Java installation" },
	{ "MAVEN_HOME", "a Maven installation" },
	{ "M2_HOME", "a Maven installation" },
	{ "GRADLE_HOME", "a Gradle installation" },
	{ "ANT_HOME", "an Ant installation" },
	{ "KOTLIN_HOME", "a Kotlin installation" },
	{ "GROOVY_HOME", "a Groovy installation" },
	{ "SCALA_HOME", "a Scala installation" },
	{ "GOROOT", "a Go installation" },
	{ "DOTNET_ROOT", "a .NET installation" },
	{ "ANDROID_HOME", "the Android SDK" },
	{ "ANDROID_SDK_ROOT", "the Android SDK" },
	{ "ANDROID_NDK_HOME", "the Android NDK" },
	{ "ANDROID_NDK_ROOT", "the Android NDK" },
	{ "FLUTTER_ROOT", "the Flutter SDK" },
	{ "DART_SDK", "the Dart SDK" },
	{ "CUDA_HOME", "the CUDA toolkit" },
	{ "CUDA_PATH", "the CUDA toolkit" },
	{ "EMSDK", "the Emscripten SDK" },
	{ "VCPKG_ROOT", "packages of vcpkg" },
	{ "BOOST_ROOT", "the Boost libraries" },
	{ "QTDIR", "a Qt installation" },
	{ "VIRTUAL_ENV", "a virtual environment of Python" },
};
const size_t directory_variable_count = ARRAY_SIZE(directory_variables);
