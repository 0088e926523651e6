/* Which functions of a C library for 32 bits always fail: none is known to. */
