/* An example to try Everproof on. It is yours: change what you like. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	char name[16];
	int count;
	struct item *next;
};

static struct item *stock;

static void add(const char *name, int count)
{
	struct item *item = malloc(sizeof *item);

	if (!item)
		return;
	strncpy(item->name, name, sizeof item->name - 1);
	item->name[sizeof item->name - 1] = '\0';
	item->count = count;
	item->next = stock;
	stock = item;
}

static struct item *find(const char *name)
{
	struct item *item;

	for (item = stock; item; item = item->next)
		if (strcmp(item->name, name) == 0)
			return item;
	return NULL;
}

static void sell(const char *name, int count)
{
	struct item *item = find(name);

	item->count -= count; /* what if there is no such item? Press Ctrl+F8 here (macOS: Cmd+F8), and then Ctrl+. */
	printf("%d left\n", item->count);
}

int main(int argc, char **argv)
{
	add("nail", 100);
	if (argc > 1)
		sell(argv[1], 1);
	return 0;
}
