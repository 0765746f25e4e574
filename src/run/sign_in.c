// SPDX-License-Identifier: MIT
// stub
#include "run/sign_in.h"
bool sign_in_prepare(const struct plan *plan, struct arena *arena, struct error *error) { (void)plan; (void)arena; (void)error; return true; }
void sign_in_watch(struct sign_in *s, const struct plan *plan) { s->plan = plan; s->watch = -1; }
int sign_in_descriptor(const struct sign_in *s) { return s->watch; }
void sign_in_changed(struct sign_in *s) { (void)s; }
void sign_in_end(struct sign_in *s) { (void)s; }
