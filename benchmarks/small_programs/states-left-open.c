#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum state { CODE, SLASH, COMMENT, STAR };

static enum state step(enum state s, int c, FILE *out)
{
	switch (s) {
	case CODE:
		if (c == '/')
			return SLASH;
		putc(c, out);
		return CODE;
	case SLASH:
		if (c == '*')
			return COMMENT;
		putc('/', out);
		if (c == '/')
			return SLASH;
		putc(c, out);
		return CODE;
	case COMMENT:
		return c == '*' ? STAR : COMMENT;
	case STAR:
		if (c == '/')
			return CODE;
		return c == '*' ? STAR : COMMENT;
	}
	return s;
}

static int strip(const char *from, const char *to)
{
	enum state s = CODE;
	int c;
	FILE *in, *out;

	in = fopen(from, "r");
	if (!in) {
		perror(from);
		return -1;
	}
	out = fopen(to, "w");
	if (!out) {
		perror(to);
		return -1;
	}
	while ((c = getc(in)) != EOF)
		s = step(s, c, out);
	if (s == SLASH)
		putc('/', out);
	assert(s >= CODE && s <= STAR);
	fclose(in);
	if (fclose(out) != 0)
		return -1;
	return s == CODE || s == SLASH ? 0 : 1;
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: strip from to\n");
		return 2;
	}
	status = strip(argv[1], argv[2]);
	if (status < 0)
		return 1;
	if (status > 0)
		fprintf(stderr, "unterminated comment\n");
	return 0;
}
