#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	char *text;
	int count;
	struct word *left, *right;
};

static struct word *word_new(const char *text)
{
	struct word *w = malloc(sizeof *w);

	if (w == NULL)
		return NULL;
	w->text = strdup(text);
	if (w->text == NULL) {
		free(w);
		return NULL;
	}
	w->count = 1;
	w->left = w->right = NULL;
	return w;
}

static struct word *insert(struct word *t, const char *text)
{
	int c;

	if (t == NULL)
		return word_new(text);
	c = strcmp(text, t->text);
	if (c == 0)
		t->count++;
	else if (c < 0)
		t->left = insert(t->left, text);
	else
		t->right = insert(t->right, text);
	return t;
}

static int depth(const struct word *t)
{
	int l, r;

	if (t == NULL)
		return 0;
	l = depth(t->left);
	r = depth(t->right);
	return 1 + (l > r ? l : r);
}

static const struct word *smallest(const struct word *t)
{
	if (t == NULL)
		return NULL;
	while (t->left != NULL)
		t = t->left;
	return t;
}

static void destroy(struct word *t)
{
	if (t == NULL)
		return;
	free(t->text);
	free(t);
	destroy(t->left);
	destroy(t->right);
}

int main(int argc, char **argv)
{
	struct word *root = NULL;
	const struct word *w;
	int i;

	for (i = 1; i < argc; i++)
		root = insert(root, argv[i]);
	w = smallest(root);
	if (w != NULL)
		printf("first %s (%d), depth %d\n", w->text, w->count, depth(root));
	destroy(root);
	return 0;
}
