package move

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
)

// TestSchemasAgree compares the tables and columns of both kinds of database: a migration of one without the other shows
// here, before a move loses what it added.
func TestSchemasAgree(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	f, err := makeFolder(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	lite := map[string][]string{}
	for _, db := range []reader{f.hub, f.visits} {
		rows, err := db.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'goose_db_version'`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				t.Fatal(err)
			}
			lite[table] = append(lite[table], column)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := postgres.Open(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tables, err := catalogue(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	full := map[string][]string{}
	for _, table := range tables {
		for _, c := range table.columns {
			full[table.name] = append(full[table.name], c.name)
		}
	}
	for _, all := range []map[string][]string{lite, full} {
		for name := range all {
			slices.Sort(all[name])
		}
	}
	if diff := cmp.Diff(lite, full); diff != "" {
		t.Errorf("(-sqlite +postgres)\n%s", diff)
	}
}
