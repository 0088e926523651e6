#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config {
	char *host;
	int port;
	int verbose;
};

static char *trim(char *s)
{
	char *end;

	while (*s == ' ' || *s == '\t')
		s++;
	end = s + strlen(s);
	while (end > s && (end[-1] == ' ' || end[-1] == '\n'))
		end--;
	*end = '\0';
	return s;
}

static int set_option(struct config *c, const char *key, const char *value)
{
	if (strcmp(key, "host") == 0) {
		char *copy = strdup(value);
		if (!copy)
			return -1;
		free(c->host);
		c->host = copy;
	} else if (strcmp(key, "port") == 0) {
		c->port = atoi(value);
	} else if (strcmp(key, "verbose") == 0) {
		c->verbose = 1;
	}
	return 0;
}

static int read_config(struct config *c, const char *path)
{
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return -1;
	while (status == 0 && getline(&line, &size, f) != -1) {
		char *text = trim(line);
		char *key, *value;

		if (*text == '#' || *text == '\0')
			continue;
		key = strtok(text, "=");
		value = strtok(NULL, "=");
		if (!key)
			continue;
		status = set_option(c, trim(key), trim(value));
	}
	free(line);
	fclose(f);
	return status;
}

int main(int argc, char **argv)
{
	struct config c = {NULL, 80, 0};

	if (read_config(&c, argc > 1 ? argv[1] : "app.conf") < 0) {
		fprintf(stderr, "cannot read the configuration\n");
		free(c.host);
		return 1;
	}
	printf("%s:%d\n", c.host ? c.host : "localhost", c.port);
	free(c.host);
	return 0;
}
