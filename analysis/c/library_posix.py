"""The functions of POSIX.1-2008, one row each (or one for several that do the same), each as its page there says.
`analysis.c.functions` says how to read a row."""

TABLE = """
_exit                        | n                       |             | noreturn    | POSIX
_longjmp siglongjmp          | in n                    |             | noreturn jumps | POSIX
_setjmp                      | out                     | number      | setjmp      | POSIX
sigsetjmp                    | out n                   | number      | setjmp      | POSIX
getcontext                   | out                     | number      | twice       | POSIX.1-2004
setcontext                   | in                      | number      | jumps switches | POSIX.1-2004
swapcontext                  | out in                  | number      | jumps switches | POSIX.1-2004
makecontext                  | inout later n ...       |             | switches    | POSIX.1-2004
fork                         |                         | number      | switches    | POSIX
vfork                        |                         | number      | switches twice | POSIX.1-2004
pthread_atfork               | later? later? later?    | number      | registers   | POSIX
pthread_create               | out+one in? starts kept? | number      | thread      | POSIX
pthread_setspecific          | n kept?                 | number      |             | POSIX
sigaction                    | n starts-inside? out?   | number      | handler     | POSIX
sigset                       | n starts?               | any?        | handler     | POSIX.1-2001
timer_create                 | n starts-inside? out    | number      | thread      | POSIX
mq_notify                    | n starts-inside?        | number      | thread      | POSIX
aio_read aio_write           | starts-inside+kept      | number      | thread      | POSIX
aio_fsync                    | n starts-inside         | number      | thread      | POSIX
lio_listio                   | n kept n starts-inside? | number      | thread      | POSIX
sigaltstack                  | in+kept? out?           | number      | open        | POSIX
kill killpg pthread_kill     | n n                     | number      | signals     | POSIX
sigqueue                     | n n n                   | number      | open        | POSIX
pthread_cancel               | n                       | number      | open        | POSIX
pause                        |                         | number      | signals     | POSIX
alarm                        | n                       | number      | signals     | POSIX
ualarm                       | n n                     | number      | signals     | POSIX.1-2001
setitimer                    | n in out?               | number      | signals     | POSIX
timer_settime                | any n in out?             | number      | open        | POSIX
sigsuspend                   | in                      | number      | signals     | POSIX
sigprocmask pthread_sigmask  | n in? out?              | number      | signals     | POSIX
sighold sigrelse sigpause sigignore | n                | number      | signals     | POSIX.1-2001
execv                        | text in                 | number      | open        | POSIX
execve                       | text in in              | number      | open        | POSIX
execvp                       | text in                 | number      | open        | POSIX
fexecve                      | n in in                 | number      | open        | POSIX
execl execle execlp          | text text ...           | number      | open        | POSIX
posix_spawn posix_spawnp     | out? text in? in? in in? | number     | open        | POSIX

fdopen                       | n text                  | stream?     |             | POSIX
fdopendir                    | n                       | directory?  |             | POSIX
fmemopen                     | kept? n text            | stream?     | buffers     | POSIX
open_memstream open_wmemstream | kept kept             | stream?     | buffers     | POSIX
opendir                      | text                    | directory?  |             | POSIX
popen                        | text text               | stream?     |             | POSIX
closedir pclose              | closed                  | number      | may-fail    | POSIX
readdir                      | handle                  | static?     |             | POSIX
readdir_r                    | handle out link         | number      |             | POSIX
rewinddir                    | handle                  |             |             | POSIX
seekdir                      | handle n                |             |             | POSIX
telldir dirfd                | handle                  | number      |             | POSIX
fileno ftello                | handle                  | number      |             | POSIX
lseek                        | n n n                   | number      |             | POSIX
fseeko                       | handle n n              | number      |             | POSIX
getc_unlocked                | handle                  | -1..255     |             | POSIX
open                         | text n ...              | descriptor  |             | POSIX
openat                       | n text n ...            | descriptor  |             | POSIX
creat                        | text n                  | descriptor  |             | POSIX
shm_open                     | text n n                | descriptor  |             | POSIX
dup                          | n                       | descriptor  |             | POSIX
dup2                         | n n                     | number      | opens       | POSIX
pipe                         | out                     | -1..0       | opens       | POSIX
socketpair                   | n n n out               | -1..0       | opens       | POSIX
mkstemp                      | inout                   | descriptor  |             | POSIX
socket                       | n n n                   | descriptor  |             | POSIX
accept                       | n out? inout+one?       | descriptor  |             | POSIX
close                        | n+closed                | number      |             | POSIX
chmod                        | text n                  | -1..0       |             | POSIX
chown lchown                 | text n n                | -1..0       |             | POSIX
nanosleep                    | in out?                 | number      |             | POSIX
sched_yield                  |                         | number      |             | POSIX
access                       | text n                  | -1..0       |             | POSIX
isatty                       | n                       | 0..1        |             | POSIX
stat lstat                   | text out                | -1..0       | fails-unchanged | POSIX
fstat                        | n out                   | -1..0       | fails-unchanged | POSIX
fstatat                      | n text out n            | -1..0       | fails-unchanged | POSIX
futimens                     | n in?                   | number      |             | POSIX
chdir rmdir                  | text                    | -1..0       |             | POSIX
mkdir mkfifo                 | text n                  | -1..0       |             | POSIX
link symlink                 | text text               | -1..0       |             | POSIX
readlink                     | text out n              | number      |             | POSIX
truncate                     | text n                  | -1..0       |             | POSIX
fchmod ftruncate             | n n                     | -1..0       |             | POSIX
fchown                       | n n n                   | -1..0       |             | POSIX
fchdir fsync fdatasync       | n                       | -1..0       |             | POSIX
utime utimes                 | text in?                | -1..0       |             | POSIX
umask                        | n                       | number      |             | POSIX
mkdtemp                      | inout                   | argument:0? |             | POSIX
lockf                        | n n n                   | -1..0       |             | POSIX
utimensat                    | n text in? n            | number      |             | POSIX
unlink                       | text                    | -1..0       |             | POSIX
read                         | n out n                 | number      |             | POSIX
write                        | n in n                  | number      |             | POSIX
recv                         | n out n n               | number      |             | POSIX
send                         | n in n n                | number      |             | POSIX
listen shutdown              | n n                     | number      |             | POSIX
bind connect                 | n in n                  | -1..0       |             | POSIX
getsockname getpeername      | n out inout+one         | -1..0       | fails-unchanged | POSIX
recvfrom                     | n out n n out? inout?   | number      |             | POSIX
sendto                       | n in n n in? n          | number      |             | POSIX
readv writev                 | n in+beneath n          | number      |             | POSIX
pread                        | n out n n               | number      |             | POSIX
pwrite                       | n in n n                | number      |             | POSIX
setsockopt                   | n n n in? n             | -1..0       | fails-unchanged | POSIX
getsockopt                   | n n n out? inout?       | -1..0       | fails-unchanged | POSIX
poll                         | inout? n n              | number      |             | POSIX
select                       | n inout? inout? inout? inout? | number |            | POSIX
tcgetattr                    | n out                   | number      |             | POSIX
tcsetattr                    | n n in                  | number      |             | POSIX
tcflush tcsendbreak          | n n                     | -1..0       |             | POSIX
cfgetispeed cfgetospeed      | in                      | number      |             | POSIX
cfsetispeed cfsetospeed      | inout n                 | -1..0       |             | POSIX
asctime_r                    | in+one out              | argument:1~ | far-off     | POSIX
ctime_r                      | in+one out              | argument:1~ | sets far-off | POSIX
gmtime_r                     | in+one out+one          | argument:1~ | far-off     | POSIX
localtime_r                  | in+one out+one          | argument:1~ | sets far-off | POSIX
strptime                     | text text inout+one     | into:0~     | sets        | POSIX
tzset                        |                         |             | sets        | POSIX
clock_gettime                | n out                   | number      |             | POSIX
gettimeofday                 | out out?                | number      |             | POSIX
getpriority                  | n n                     | number      |             | POSIX
setpriority                  | n n n                   | number      |             | POSIX
getrusage                    | n out                   | number      |             | POSIX
getrlimit                    | n out                   | -1..0       | fails-unchanged | POSIX
setrlimit                    | n in                    | -1..0       |             | POSIX
sysconf                      | n                       | number      |             | POSIX
pathconf                     | text n                  | number      |             | POSIX
fpathconf                    | n n                     | number      |             | POSIX
uname                        | out                     | number      |             | POSIX
gethostname                  | out n                   | -1..0       |             | POSIX
nice                         | n                       | number      |             | POSIX
dprintf                      | n format ...            | number      | may-fail    | POSIX
syslog                       | n format ...            |             | reads-errno | POSIX
fcntl ioctl                  | n n ...                 | number      | by-number controls | POSIX
getdelim                     | inout+beneath+one inout+one n handle | number      | allocates frees | POSIX
getline                      | inout+beneath+one inout+one handle | number      | allocates frees | POSIX

posix_memalign               | out+one n size          | number      | allocates   | POSIX
strdup                       | text                    | block?      | builtin     | POSIX
strndup                      | text n                  | block?      | builtin     | POSIX
stpcpy                       | out text                | into:0      | builtin checked | POSIX
stpncpy                      | out text n              | into:0      |             | POSIX
strcasecmp                   | text text               | number      | sign        | POSIX
strncasecmp                  | text text n             | number      | sign        | POSIX
strnlen                      | text n                  | number      | size_t | POSIX
strerror_r                   | n out n                 | any         | or-number   | POSIX
strsignal                    | n                       | static      | message     | POSIX
regcomp                      | out text n              | number      | allocates   | POSIX
regexec                      | in text n out n         | number      |             | POSIX
regerror                     | n in out n              | number      | size_t      | POSIX
regfree                      | inout                   |             | frees       | POSIX
getopt                       | n inout+kept text+kept  | number      | sets        | POSIX
fnmatch                      | text text n             | number      |             | POSIX
ffs                          | n                       | number      |             | POSIX
strtok_r                     | inout? text link        | any~        | elsewhere   | POSIX
memccpy                      | out copied n n          | into:0~     |             | POSIX
bcmp                         | in:2 in:2 n             | number      | truth       | POSIX.1-2004
bcopy                        | copied:2 out:2 n        |             |             | POSIX.1-2004
bzero                        | out:1 n                 |             |             | POSIX.1-2004
index rindex                 | text n                  | into:0~     |             | POSIX.1-2004
lfind                        | in in in n code         | into:1~     |             | POSIX
hsearch                      | n n                     | any~        | open        | POSIX
tsearch                      | kept inout code         | any?        |             | POSIX
insque                       | inout+kept inout+beneath+kept? |             |             | POSIX
initstate                    | n kept n                | any~        | buffers     | POSIX
setstate                     | kept                    | any~        | buffers     | POSIX
random                       |                         | 0..2147483647 |           | POSIX
srandom                      | n                       |             |             | POSIX

sigaddset sigdelset          | inout n                 | number      |             | POSIX
sigemptyset sigfillset       | out                     | number      |             | POSIX
sigismember                  | in n                    | number      |             | POSIX
pthread_mutex_destroy pthread_spin_destroy | lock      | number      | ends-lock   | POSIX
pthread_mutex_lock pthread_spin_lock | lock            | number      | locks       | POSIX
pthread_mutex_trylock pthread_spin_trylock | lock      | number      | tries-at-zero truth | POSIX
pthread_mutex_unlock pthread_spin_unlock | lock        | number      | unlocks     | POSIX
pthread_mutex_init           | lock in+one?            | number      | makes-lock any-kind truth | POSIX
pthread_mutex_timedlock      | lock in                 | number      | tries-at-zero truth | POSIX
pthread_spin_init            | lock n                  | number      | makes-lock truth | POSIX

getpid                       |                         | 1..2147483647 | same      | POSIX
getppid                      |                         | 0..2147483647 |           | POSIX
getuid geteuid getgid getegid |                        | number      | same        | POSIX
sleep                        | n                       | number      |             | POSIX
usleep                       | n                       | number      |             | POSIX.1-2004
wait                         | out+one?                | number      |             | POSIX
waitpid                      | n out+one? n            | number      |             | POSIX
setuid setgid seteuid setegid | n                      | -1..0       |             | POSIX
setreuid setregid setpgid    | n n                     | -1..0       |             | POSIX
setsid                       |                         | number      |             | POSIX
getgroups                    | n out                   | number      |             | POSIX
putenv                       | kept                    | number      | environment | POSIX
setenv                       | text text n             | number      | environment | POSIX
unsetenv                     | text                    | number      | environment | POSIX
getcwd                       | out? n                  | any?        | allocates   | POSIX
realpath                     | text out?               | any?        | allocates   | POSIX
tempnam                      | text? text?             | block?      |             | POSIX
ctermid                      | out?                    | any         |             | POSIX
getlogin                     |                         | static?     |             | POSIX
crypt                        | text text               | static?     |             | POSIX
ttyname                      | n                       | static?     |             | POSIX
getpwnam getgrnam            | text                    | static?     |             | POSIX
setpwent endpwent setgrent endgrent |                  |             |             | POSIX
getpwuid getgrgid            | n                       | static?     |             | POSIX
gethostbyname                | text                    | static?     |             | POSIX.1-2004
gethostbyaddr                | in n n                  | static?     |             | POSIX.1-2004
getservbyname                | text text?              | static?     |             | POSIX
getservbyport                | n text?                 | static?     |             | POSIX
getprotobyname               | text                    | static?     |             | POSIX
htonl htons ntohl ntohs      | n                       | number      | same        | POSIX
getaddrinfo                  | text? text? in? out+one | number      | allocates fails-unchanged | POSIX
freeaddrinfo                 | freed                   |             | frees       | POSIX
getnameinfo                  | in n out? n out? n n    | number      |             | POSIX
inet_addr                    | text                    | number      |             | POSIX
inet_ntoa                    | n                       | static      |             | POSIX
inet_ntop                    | n in out n              | argument:2? |             | POSIX
inet_pton                    | n text out              | -1..1       |             | POSIX
gai_strerror                 | n                       | static      | message     | POSIX
nl_langinfo                  | n                       | static      |             | POSIX
dlopen                       | text? n                 | any?        | open        | POSIX
dlsym                        | any text                | any~        | named-code  | POSIX
"""
