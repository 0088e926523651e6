"""Functions of GNU and BSD libraries, compilers, the Linux kernel and verifiers, one row each (or one for several that do the
same). `analysis.c.functions` says how to read a row."""

TABLE = """
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc | | outside   | keeps-errno table | LSB
__errno_location             |                         | outside     | keeps-errno errno | LSB
___errno __errno __error _errno |                      | outside     | keeps-errno errno | BSD, Windows
__xpg_basename               | inout                   | any         |             | LSB
__assert                     | text text n             |             | noreturn assertion | GNU
__assert_fail                | text text n text?       |             | noreturn assertion | LSB
__assert_perror_fail         | n text n text?          |             | noreturn assertion | GNU
__assert_rtn _assert         | ...                     |             | noreturn assertion | BSD, Windows
__sigsetjmp                  | out n                   | number      | setjmp      | LSB
__setjmp                     | out                     | number      | setjmp      | GNU
bsd_signal sysv_signal __sysv_signal ssignal | n starts? | any?      | handler     | GNU
sigvec                       | n starts-inside? out?   | number      | handler     | BSD
clone __clone                | starts kept n kept? ... | number      | thread      | GNU
getaddrinfo_a                | n kept n starts-inside? | number      | thread      | GNU
on_exit                      | later kept?             | number      | registers   | GNU
prctl ptrace syscall         | n ...                   | number      | by-number   | GNU
dlfunc                       | any text                | any~        | named-code  | BSD
dlvsym                       | any text text           | any~        | named-code  | GNU
fopencookie                  | kept? text kept         | stream?     | buffers     | GNU
funopen                      | kept? n n n n           | stream?     | buffers     | BSD
setbuffer                    | handle kept? n          |             | buffers     | GNU
register_printf_function register_printf_specifier | n kept? kept? | number | buffers | GNU
register_printf_type         | kept                    | number      | buffers     | GNU

getopt_long getopt_long_only | n inout+kept text+kept in+kept out? | number | sets    | GNU
error                        | n n format ...          |             | ends reads-errno | GNU
error_at_line                | n n text? n format ...  |             | ends reads-errno | GNU
timegm                       | inout+one               | number      | sets        | GNU
clearenv                     |                         | number      | environment | GNU
inet_aton                    | text out                | number      |             | BSD
setgroups                    | n in                    | -1..0       |             | BSD
initgroups                   | text n                  | -1..0       |             | BSD
chroot                       | text                    | -1..0       |             | POSIX.1-2004
flock                        | n n                     | -1..0       |             | BSD
getdtablesize getpagesize    |                         | number      |             | POSIX.1-2004
statfs                       | text out                | -1..0       |             | Linux
__h_errno_location           |                         | outside     | keeps-errno | LSB
accept4                      | n out? inout+one? n     | descriptor  |             | GNU
dup3                         | n n n                   | number      | opens       | GNU
pipe2                        | out n                   | -1..0       | opens       | GNU
open64                       | text n ...              | descriptor  |             | GNU
epoll_create epoll_create1 inotify_init1 | n           | descriptor  |             | GNU
eventfd timerfd_create       | n n                     | descriptor  |             | GNU
inotify_init                 |                         | descriptor  |             | GNU
memfd_create                 | text n                  | descriptor  |             | GNU
mkostemp                     | inout n                 | descriptor  |             | GNU
signalfd                     | n in n                  | descriptor  |             | GNU
setmntent                    | text text               | stream?     |             | GNU
endmntent                    | closed                  | number      |             | GNU
asprintf                     | out+one format ...      | number      | allocates may-fail | GNU
vasprintf                    | out+one format va       | number      | allocates may-fail | GNU
secure_getenv                | text                    | static?     |             | GNU

__builtin_bswap16 __builtin_bswap32 __builtin_bswap64 | n | number   | keeps-errno | gcc
__builtin_huge_val __builtin_huge_valf __builtin_huge_vall |   | number      | keeps-errno | gcc
__builtin_inf __builtin_inff __builtin_infl |            | number      | keeps-errno | gcc
__builtin_nan __builtin_nanf __builtin_nanl | text       | number      | keeps-errno | gcc
__builtin_isfinite __builtin_isinf_sign __builtin_isnan __builtin_isnormal | n | number | keeps-errno | gcc
__atomic_test_and_set        | inout n                 | number      | keeps-errno truth | gcc
__builtin_assume_aligned     | any n ...               | argument:0  | keeps-errno | gcc
__builtin_frame_address __builtin_return_address | n   | any?        | keeps-errno | gcc
__builtin_longjmp            | in n                    |             | noreturn jumps | gcc
__builtin_setjmp             | out                     | number      | setjmp      | gcc
__builtin_trap               |                         |             | noreturn    | gcc
__builtin_unreachable        |                         |             | noreturn    | gcc
alloca                       | size                    | stack       | builtin     | GNU
cfree                        | freed?                  |             |             | GNU
memalign                     | n size                  | block?      |             | GNU
reallocarray                 | freed? size size        | block?      |             | GNU
valloc                       | size                    | block?      |             | GNU
sbrk                         | n                       | any         | open        | GNU

explicit_bzero               | out:1 n                 |             |             | GNU
memmem                       | in n in n               | into:0~     |             | GNU
mempcpy                      | out:2 copied:2 n        | into:0      | copies builtin checked | GNU
memrchr                      | in n n                  | into:0~     |             | GNU
rawmemchr                    | in n                    | into:0      |             | GNU
strcasestr                   | text text               | into:0~     |             | GNU
strlcat                      | inout text n            | number      | size_t | BSD
strlcpy                      | out text n              | number      | size_t | BSD
strsep                       | inout+link+beneath text | any~        |             | GNU

kmalloc                      | size n                  | block?      |             | Linux
kzalloc                      | size n                  | block?      | zeroed      | Linux
vmalloc                      | size                    | block?      |             | Linux
vzalloc                      | size                    | block?      | zeroed      | Linux
kfree kvfree vfree           | freed?                  |             |             | Linux
atomic_dec_and_lock _atomic_dec_and_lock atomic_dec_and_mutex_lock | inout lock | number | locks-otherwise truth | Linux
mutex_destroy                | lock                    |             | ends-lock   | Linux
mutex_init spin_lock_init    | lock                    |             | makes-lock  | Linux
mutex_lock raw_spin_lock spin_lock spin_lock_bh spin_lock_irq | lock | | locks   | Linux
mutex_lock_nested spin_lock_irqsave | lock n           |             | locks       | Linux
mutex_lock_interruptible mutex_lock_killable | lock    | number      | locks-at-zero truth | Linux
mutex_lock_interruptible_nested mutex_lock_killable_nested | lock n | number | locks-at-zero truth | Linux
mutex_trylock raw_spin_trylock spin_trylock spin_trylock_bh spin_trylock_irq | lock | number | tries-otherwise truth | Linux
mutex_unlock raw_spin_unlock spin_unlock spin_unlock_bh spin_unlock_irq | lock | | unlocks | Linux
spin_unlock_irqrestore       | lock n                  |             | unlocks     | Linux
printk                       | format ...              | number      |             | Linux

__VERIFIER_atomic_begin __VERIFIER_atomic_end | | | keeps-errno | SV-COMP
__VERIFIER_error reach_error |                         |             | noreturn assertion error | SV-COMP
"""
