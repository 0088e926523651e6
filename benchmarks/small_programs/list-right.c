#include <stdio.h>
#include <stdlib.h>

/* A sorted list of scores with insert and delete. */
struct entry {
	int id;
	int score;
	struct entry *next;
};

struct board {
	struct entry *first;
	int count;
};

static int board_add(struct board *b, int id, int score)
{
	struct entry **at = &b->first;
	struct entry *e = malloc(sizeof *e);

	if (!e)
		return -1;
	e->id = id;
	e->score = score;
	while (*at && (*at)->score > score)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	b->count++;
	return 0;
}

static int board_delete(struct board *b, int id)
{
	struct entry *prev = NULL;
	struct entry *cur = b->first;

	while (cur && cur->id != id) {
		prev = cur;
		cur = cur->next;
	}
	if (!cur)
		return 0;
	if (prev)
		prev->next = cur->next;
	else
		b->first = cur->next;
	free(cur);
	b->count--;
	return 1;
}

static void board_clear(struct board *b)
{
	struct entry *e = b->first;

	while (e) {
		struct entry *next = e->next;
		free(e);
		e = next;
	}
	b->first = NULL;
	b->count = 0;
}

int main(int argc, char **argv)
{
	struct board b = {NULL, 0};
	int i;

	for (i = 1; i < argc; i++) {
		if (board_add(&b, i, atoi(argv[i])) < 0) {
			fprintf(stderr, "out of memory\n");
			board_clear(&b);
			return 1;
		}
	}
	if (board_delete(&b, 2))
		printf("deleted 2, %d left\n", b.count);
	board_clear(&b);
	return 0;
}
