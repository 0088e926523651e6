"""The functions of C11 clause 7, one row each (or one for several that do the same). `analysis.c.functions` says how to read
a row."""

TABLE = """
isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit | n | number | truth | C 7.4.1
tolower toupper              | n                       | number      |             | C 7.4.2
setlocale                    | n text?                 | static~     |             | C 7.11.1.1
localeconv                   |                         | static      |             | C 7.11.2.1

acos asin atan cos sin tan   | n                       | number      | float       | C 7.12.4
atan2                        | n n                     | number      | float       | C 7.12.4.4
cosh sinh tanh               | n                       | number      | float       | C 7.12.5
exp exp2 log log10 log2      | n                       | number      | float       | C 7.12.6
cbrt fabs sqrt               | n                       | number      | float       | C 7.12.7
hypot pow                    | n n                     | number      | float       | C 7.12.7
ceil floor round trunc       | n                       | number      | float       | C 7.12.9
fmod                         | n n                     | number      | float       | C 7.12.10.1
copysign                     | n n                     | number      | float       | C 7.12.11.1
fmax fmin                    | n n                     | number      | float       | C 7.12.12

setjmp                       | out                     | number      | setjmp      | C 7.13.1.1
longjmp                      | in n                    |             | noreturn jumps | C 7.13.2.1
signal                       | n starts?               | any?        | handler     | C 7.14.1.1
raise                        | n                       | number      | signals     | C 7.14.2.1

remove                       | text                    | number      |             | C 7.21.4.1
rename                       | text text               | number      |             | C 7.21.4.2
tmpfile                      |                         | stream?     |             | C 7.21.4.3
fclose                       | closed                  | number      | may-fail    | C 7.21.5.1
fflush                       | handle?                 | number      | may-fail    | C 7.21.5.2
fopen                        | text text               | stream?     |             | C 7.21.5.3
freopen                      | text? text inout        | argument:2? | open        | C 7.21.5.4
setbuf                       | handle kept?            |             | buffers     | C 7.21.5.5
setvbuf                      | handle kept? n n        | number      | buffers     | C 7.21.5.6
fprintf                      | handle format ...       | number      | builtin may-fail | C 7.21.6.1
fscanf                       | handle scan out...      | number      | allocates   | C 7.21.6.2
printf                       | format ...              | number      | builtin may-fail | C 7.21.6.3
scanf                        | scan out...             | number      | allocates   | C 7.21.6.4
snprintf                     | out n format ...        | number      | builtin     | C 7.21.6.5
sprintf                      | out format ...          | number      | builtin     | C 7.21.6.6
sscanf                       | text scan out...        | number      | allocates   | C 7.21.6.7
vfprintf                     | handle format va        | number      | builtin may-fail | C 7.21.6.8
vprintf                      | format va               | number      | builtin may-fail | C 7.21.6.10
vsnprintf                    | out n format va         | number      | builtin     | C 7.21.6.12
vsprintf                     | out format va           | number      | builtin     | C 7.21.6.13
fgetc getc                   | handle                  | -1..255     |             | C 7.21.7.1
fgets                        | out n handle            | argument:0? |             | C 7.21.7.2
gets                         | out                     | argument:0? |             | C99 7.19.7.7
fputc                        | n handle                | number      | builtin may-fail | C 7.21.7.3
putc                         | n handle                | number      | may-fail    | C 7.21.7.7
fputs                        | text handle             | number      | builtin nonnegative | C 7.21.7.4
getchar                      |                         | -1..255     |             | C 7.21.7.6
putchar                      | n                       | number      | builtin may-fail | C 7.21.7.8
puts                         | text                    | number      | builtin nonnegative | C 7.21.7.9
ungetc                       | n handle                | number      |             | C 7.21.7.10
fread                        | out n n handle          | number      | size_t | C 7.21.8.1
fwrite                       | in n n handle           | number      | builtin size_t may-fail | C 7.21.8.2
fseek                        | handle n n              | number      |             | C 7.21.9.2
ftell                        | handle                  | number      |             | C 7.21.9.4
rewind                       | handle                  |             |             | C 7.21.9.5
clearerr                     | handle                  |             |             | C 7.21.10.1
feof ferror                  | handle                  | number      |             | C 7.21.10.2
perror                       | text?                   |             | reads-errno | C 7.21.10.4

atof                         | text                    | number      |             | C 7.22.1.1
atoi atol atoll              | text                    | number      |             | C 7.22.1.2
strtod strtof                | text link?              | number      |             | C 7.22.1.3
strtol strtoll strtoul strtoull | text link? n         | number      |             | C 7.22.1.4
rand                         |                         | 0..2147483647 |           | C 7.22.2.1
srand                        | n                       |             |             | C 7.22.2.2
aligned_alloc                | n size                  | block?      |             | C 7.22.3.1
calloc                       | size size               | block?      | zeroed builtin | C 7.22.3.2
free                         | freed?                  |             | builtin     | C 7.22.3.3
malloc                       | size                    | block?      | builtin     | C 7.22.3.4
realloc                      | freed? size             | block?      | builtin     | C 7.22.3.5
abort                        |                         |             | noreturn builtin | C 7.22.4.1
atexit at_quick_exit         | later                   | number      | registers may-fail | C 7.22.4.2
exit                         | n                       |             | noreturn builtin | C 7.22.4.4
_Exit quick_exit             | n                       |             | noreturn    | C 7.22.4.5
getenv                       | text                    | static?     | same        | C 7.22.4.6
system                       | text?                   | number      |             | C 7.22.4.8
bsearch                      | in in n n code          | into:1~     |             | C 7.22.5.1
qsort                        | inout n n code          |             |             | C 7.22.5.2
abs labs llabs               | n                       | number      | builtin absolute | C 7.22.6.1

memcpy memmove               | out:2 copied:2 n        | argument:0  | builtin checked copies | C 7.24.2.1
strcpy                       | out text                | argument:0  | builtin checked | C 7.24.2.3
strncpy                      | out text n              | argument:0  | builtin checked | C 7.24.2.4
strcat                       | inout text              | argument:0  | builtin checked | C 7.24.3.1
strncat                      | inout text n            | argument:0  | builtin checked | C 7.24.3.2
memcmp                       | in:2 in:2 n             | number      | builtin sign | C 7.24.4.1
strcmp                       | text text               | number      | builtin sign | C 7.24.4.2
strcoll                      | text text               | number      | sign        | C 7.24.4.3
strncmp                      | text text n             | number      | builtin sign | C 7.24.4.4
strxfrm                      | out text n              | number      | size_t | C 7.24.4.5
memchr                       | in n n                  | into:0~     | builtin     | C 7.24.5.1
strchr strrchr               | text n                  | into:0~     | builtin     | C 7.24.5.2
strcspn strspn               | text text               | number      | builtin size_t | C 7.24.5.3
strpbrk strstr               | text text               | into:0~     | builtin     | C 7.24.5.4
strtok                       | inout+kept? text        | into:0~     | elsewhere   | C 7.24.5.8
memset                       | out:2 n n               | argument:0  | builtin checked fills | C 7.24.6.1
strerror                     | n                       | static      | message     | C 7.24.6.2
strlen                       | text                    | number      | builtin size_t | C 7.24.6.3

fgetwc                       | handle                  | number      |             | C 7.29.3.1
fgetws                       | out n handle            | argument:0? |             | C 7.29.3.2

mtx_destroy                  | lock                    |             | ends-lock   | C 7.26.4.1
mtx_init                     | lock n                  | number      | makes-lock any-kind truth | C 7.26.4.2
mtx_lock                     | lock                    | number      | locks       | C 7.26.4.3
mtx_timedlock                | lock in                 | number      | tries-at-zero truth | C 7.26.4.4
mtx_trylock                  | lock                    | number      | tries-at-zero truth | C 7.26.4.5
mtx_unlock                   | lock                    | number      | unlocks     | C 7.26.4.6
thrd_create                  | out+one starts kept?    | number      | thread      | C 7.26.5.1
tss_set                      | n kept?                 | number      |             | C 7.26.6.4
clock                        |                         | -1..9223372036854775807 | | C 7.27.2.1
time                         | out+one?                | -1..9223372036854775807 | | C 7.27.2.4
difftime                     | n n                     | number      |             | C 7.27.2.2
mktime                       | inout+one               | number      | sets        | C 7.27.2.3
asctime                      | in+one                  | static~     | open far-off | C 7.27.3.1
ctime                        | in+one                  | static~     | sets far-off | C 7.27.3.2
gmtime                       | in+one                  | static~     | open far-off | C 7.27.3.3
localtime                    | in+one                  | static~     | sets far-off | C 7.27.3.4
strftime                     | out n text in+one       | number      | size_t sets | C 7.27.3.5

iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph | n   | number      | truth       | C 7.30.2.1
iswlower iswprint iswpunct iswspace iswupper iswxdigit | n  | number      | truth       | C 7.30.2.1
towlower towupper            | n                       | number      |             | C 7.30.3.1
"""
