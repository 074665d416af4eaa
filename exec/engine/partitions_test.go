package engine

import (
	"fmt"
	"testing"
)

// TestRepartition changes the number of partitions under a view with state, over restarts: its answers stay, the next epoch tells of it, and
// statestore shows each key in one partition.
func TestRepartition(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, x int)`, `CREATE STREAM o (k int, y int)`,
		`CREATE MATERIALIZED VIEW v WITH (state_partitions = 4) AS SELECT k, count(*) AS n, sum(x) AS x FROM s GROUP BY k`,
		`CREATE MATERIALIZED VIEW j WITH (state_partitions = 3) AS SELECT s.k, s.x, o.y FROM s LEFT JOIN o ON s.k = o.k`,
		`CREATE MATERIALIZED VIEW above AS SELECT n, count(*) AS c FROM v GROUP BY n`)
	rows := 0
	insert := func() {
		// Enough for the workers to share.
		c.exec(fmt.Sprintf(`INSERT INTO s SELECT i %% 5000, i FROM generate_series(%d, %d) i`, rows, rows+19_999))
		c.exec(fmt.Sprintf(`INSERT INTO o VALUES (%d, 1), (%d, 2)`, rows/10_000, rows/10_000))
		rows += 20_000
	}
	check := func(partitions string) {
		t.Helper()
		c.want(`SELECT count(*), sum(n), sum(x) FROM v`, fmt.Sprintf("5000,%d,%d", rows, rows*(rows-1)/2))
		c.want(`SELECT * FROM above`, fmt.Sprintf("%d,5000", rows/5000))
		c.want(`SELECT count(*) FROM (TABLE j EXCEPT ALL SELECT s.k, s.x, o.y FROM s LEFT JOIN o ON s.k = o.k) d`, "0")
		c.want(`SELECT count(*) FROM j`, fmt.Sprint(rows+rows/5000*rows/20_000))
		c.want(`SELECT count(*), min(partition_id), max(partition_id), count(DISTINCT partition_id) FROM statestore('v')`, "5000,0,"+partitions)
		c.want(`SELECT num_shuffle_partitions FROM tidemark.state_operators WHERE view_name = 'v'`, partitions[2:])
		c.want(`SELECT state_partitions, state_partitions_from FROM tidemark.views WHERE view_name = 'v'`, partitions[2:]+",view")
	}
	repartitioned := `SELECT count(*) FROM tidemark.query_progress WHERE view_name = 'v' AND duration_ms ? 'controlBatch.REPARTITION' AND progress->'durationMs' ? 'controlBatch.REPARTITION'`
	insert()
	check("3,4")
	c.want(repartitioned, "0")
	c.exec(`ALTER MATERIALIZED VIEW v SET (state_partitions = 2)`)
	insert()
	check("1,2")
	c.want(repartitioned, "1")
	c.restart(true)
	insert()
	check("1,2")
	c.exec(`ALTER MATERIALIZED VIEW v SET (state_partitions = 7)`, `ALTER MATERIALIZED VIEW j SET (state_partitions = 1)`)
	c.restart(true)
	insert()
	check("6,7")
	c.restart(false)
	c.exec(`ALTER MATERIALIZED VIEW v REBUILD`)
	insert()
	check("6,7")
	c.exec(`ALTER MATERIALIZED VIEW v RESET (state_partitions)`)
	c.want(`SELECT state_partitions_from FROM tidemark.views WHERE view_name = 'v'`, "default")
	for _, bad := range []string{"0", "-1", "257", "'many'", "''"} {
		if _, err := query(c.sess, `ALTER MATERIALIZED VIEW v SET (state_partitions = `+bad+`)`); err == nil {
			t.Errorf("state_partitions = %s was taken", bad)
		}
	}
}

// TestPartitionSettings: where the number comes from.
func TestPartitionSettings(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, x int)`,
		`SET spark.sql.streaming.stateStore.partitions = 5`,
		`CREATE MATERIALIZED VIEW a AS SELECT k, count(*) FROM s GROUP BY k`,
		`CREATE MATERIALIZED VIEW b WITH (state_partitions = 2) AS SELECT k, count(*) FROM s GROUP BY k`,
		`CREATE MATERIALIZED VIEW g WITH (state_partitions = 2) AS SELECT count(*) FROM s`,
		`RESET spark.sql.streaming.stateStore.partitions`,
		`CREATE MATERIALIZED VIEW d AS SELECT k, count(*) FROM s GROUP BY k`,
		`INSERT INTO s VALUES (1, 1)`)
	c.want(`SELECT view_name, CASE WHEN state_partitions_from <> 'default' THEN state_partitions END, state_partitions_from FROM tidemark.views ORDER BY 1`,
		"a,5,setting", "b,2,view", "d,,default", "g,2,view")
	// One group has nothing to be divided by.
	c.want(`SELECT view_name, num_shuffle_partitions FROM tidemark.state_operators WHERE view_name <> 'd' ORDER BY 1`, "a,5", "b,2", "g,1")
}
