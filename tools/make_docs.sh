#!/usr/bin/env bash
# Writes the pages that the program makes itself: make_docs.sh PROGRAM FOLDER
set -euo pipefail
program=$1
folder=$2

# Columns, which two spaces or more part, as rows of a table; the first one is a name to type.
rows() { sed -E 's/\|/\\|/g; s/ *$//; s/ {2,}/ | /g; s/^([^ ]+)/| `\1`/; s/$/ |/'; }
heading() { printf '\n## %s\n\n%s\n\n' "$1" "$2"; }

"$program" params --markdown > "$folder/reference.md"
"$program" params --json-schema > "$folder/scene.schema.json"
{
  echo "# What ships with Barchan"
  echo
  echo "Made by \`make docs\`."
  heading "Scenes" "\`barchan run NAME\`, \`barchan view NAME\`, \`make run SCENE=NAME\`; \`barchan scenes\` lists them."
  printf '| scene | |\n|---|---|\n'
  "$program" scenes | rows
  heading "Figures of the papers" "\`barchan paper ID\`: ours beside theirs ([validation.md](validation.md#figures-of-the-papers))."
  printf '| figure | in the paper | | what must be seen or measured |\n|---|---|---|---|\n'
  "$program" paper | rows
  heading "Cases" "\`barchan validate CASE\`: held against closed forms and published numbers ([validation.md](validation.md))."
  printf '| case | |\n|---|---|\n'
  "$program" validate --list | rows
} > "$folder/catalogue.md"
