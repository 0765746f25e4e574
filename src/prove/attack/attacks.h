// SPDX-License-Identifier: MIT
// The function of each attack: try_ID for each row of attacks.def.
#pragma once

#include "prove/protocol.h"

#define ATTACK(id, group, tried, blocked_by) enum verdict try_##id(void);
#include "prove/attacks.def"
