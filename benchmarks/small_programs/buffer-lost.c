#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strbuf {
	char *data;
	size_t len;
	size_t cap;
};

static void sb_init(struct strbuf *sb)
{
	sb->data = NULL;
	sb->len = 0;
	sb->cap = 0;
}

static int sb_reserve(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;
	size_t cap = sb->cap ? sb->cap : 16;

	if (need <= sb->cap)
		return 0;
	while (cap < need)
		cap *= 2;
	sb->data = realloc(sb->data, cap);
	if (!sb->data)
		return -1;
	sb->cap = cap;
	return 0;
}

static int sb_append(struct strbuf *sb, const char *s)
{
	size_t n = strlen(s);

	if (sb_reserve(sb, n) < 0)
		return -1;
	memcpy(sb->data + sb->len, s, n + 1);
	sb->len += n;
	assert(sb->len < sb->cap);
	return 0;
}

static void sb_free(struct strbuf *sb)
{
	free(sb->data);
	sb_init(sb);
}

int main(int argc, char **argv)
{
	struct strbuf sb;
	int i;

	sb_init(&sb);
	for (i = 1; i < argc; i++) {
		if (sb_append(&sb, argv[i]) < 0 || sb_append(&sb, " ") < 0) {
			sb_free(&sb);
			return 1;
		}
	}
	if (sb.data)
		puts(sb.data);
	sb_free(&sb);
	return 0;
}
