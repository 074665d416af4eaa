package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// txn is an open transaction block: what it wrote so far, to enter one epoch at COMMIT.
type txn struct {
	implicit bool
	failed   bool
	readOnly bool
	repeat   bool // REPEATABLE READ: snap is kept
	snap     *published
	started  int64
	ops      []txnOp
	// cat is the catalog with the block's own DDL; nil without any.
	cat  *catalog.Catalog
	own  map[catalog.OID]*overlay
	save []savepoint
	// settings are the run-time parameters as the block began, which ROLLBACK brings back; local names those that SET LOCAL changed,
	// which COMMIT brings back too.
	settings map[string]string
	local    map[string]bool
}

// savepoint is where a block can go back to.
type savepoint struct {
	name    string
	ops     int
	cat     *catalog.Catalog
	batches map[catalog.OID]int // of each overlay
}

// txnOp is one write of a block, in order: rows or DDL.
type txnOp struct {
	rel *catalog.Relation
	b   *batch.Batch
	own bool // nobody else sees b
	ddl ddlOp
	// makes is the materialized view that ddl makes, nil for another.
	makes *catalog.Relation
}

// overlay is what a block changed in one relation.
type overlay struct {
	rel     *catalog.Relation
	batches []*batch.Batch
	indexes []*keyIndex
}

func (t *txn) catalog(e *Engine) *catalog.Catalog {
	if t.cat != nil {
		return t.cat
	}
	return t.snapshot(e).cat
}

// snapshot is what the block's next statement reads: the newest epoch, or the one frozen at its first statement.
func (t *txn) snapshot(e *Engine) *published {
	if !t.repeat {
		return e.current()
	}
	if t.snap == nil {
		t.snap = e.current()
	}
	return t.snap
}

// stage keeps changes for COMMIT; the block's own later statements see them.
func (t *txn) stage(rel *catalog.Relation, b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	t.ops = append(t.ops, txnOp{rel: rel, b: b})
	o := t.own[rel.OID]
	if o == nil {
		o = &overlay{rel: rel}
		t.own[rel.OID] = o
	}
	o.batches = append(o.batches, b)
	return nil
}

func (s *sess) txFailed() bool { return s.tx != nil && s.tx.failed }

// TxStatus implements session.Session.
func (s *sess) TxStatus() session.TxStatus {
	switch {
	case s.tx == nil || s.tx.implicit:
		return session.TxIdle
	case s.tx.failed:
		return session.TxFailed
	}
	return session.TxOpen
}

func (s *sess) newTxn(implicit bool) *txn {
	iso, _ := s.set.get("default_transaction_isolation")
	ro, _ := s.set.get("default_transaction_read_only")
	return &txn{implicit: implicit, started: time.Now().UnixMicro(), own: map[catalog.OID]*overlay{}, settings: maps.Clone(s.set.values), local: map[string]bool{},
		repeat: !implicit && repeatable(iso), readOnly: !implicit && ro == "on"}
}

func repeatable(iso string) bool { return iso == "repeatable read" || iso == "serializable" }

// BeginImplicit implements session.Session.
func (s *sess) BeginImplicit() {
	if s.tx == nil {
		s.tx = s.newTxn(true)
	}
	s.implicit = true
}

// EndImplicit implements session.Session.
func (s *sess) EndImplicit(ctx context.Context, failed bool) error {
	s.implicit = false
	if s.tx == nil || !s.tx.implicit {
		return nil
	}
	if failed || s.tx.failed {
		s.rollback()
		return nil
	}
	return s.commit(ctx)
}

func (s *sess) rollback() {
	if s.tx != nil {
		s.restoreSettings(func(string) bool { return true })
	}
	s.tx = nil
	s.closeCursors()
}

// commit makes the block's writes one unit of an epoch.
func (s *sess) commit(ctx context.Context) error {
	t, lazy := s.tx, s.lazy()
	if t != nil {
		s.restoreSettings(func(name string) bool { return t.local[name] })
	}
	s.tx = nil
	s.closeCursors()
	if t == nil || len(t.ops) == 0 {
		return nil
	}
	t.combine()
	rows := 0
	for _, op := range t.ops {
		if op.b != nil {
			rows += op.b.N
		}
	}
	err := s.submit(ctx, rows, lazy, func(b *epochBuild) error {
		for _, op := range t.ops {
			if op.ddl != nil {
				if err := op.ddl(b); err != nil {
					return err
				}
				continue
			}
			rel := b.cat.ByOID(op.rel.OID)
			if rel == nil {
				return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", op.rel.Name)
			}
			if err := b.validate(rel, op.b); err != nil {
				return err
			}
			if !op.own { // the block may still be read
				op.b = op.b.Select(allRows(op.b.N))
			}
			if err := b.stage(rel, op.b); err != nil {
				return err
			}
		}
		return nil
	})
	for _, op := range t.ops {
		if err == nil && op.makes != nil {
			s.tellMade(op.makes)
		}
	}
	return err
}

// combine makes one write of inserts into a stream that follow one another, before the loop has to look at them.
func (t *txn) combine() {
	out := t.ops[:0]
	for _, op := range t.ops {
		last := len(out) - 1
		if op.b == nil || last < 0 || out[last].rel != op.rel || op.rel.Kind != catalog.Stream {
			out = append(out, op)
			continue
		}
		to := &out[last]
		if !to.own {
			to.b, to.own = to.b.Select(allRows(to.b.N)), true
		}
		to.b.AppendBatch(op.b, nil)
	}
	t.ops = out
}

// validate checks a block's change of a table against what is there now: a row that it deletes must still be there
// (40001), a key that it inserts must be free (23505).
func (b *epochBuild) validate(rel *catalog.Relation, ch *batch.Batch) error {
	if rel.Kind != catalog.Table {
		return nil
	}
	t := b.e.tables[rel.OID]
	net := newRowCounts(rel)
	_ = net.addBatch(ch)
	return net.each(func(row *batch.Batch, i int, w int64) error {
		if w < 0 {
			have := int64(0)
			err := t.lookup(rel.PrimaryKey, keyOf(rel, row, i), func(got *batch.Batch) error {
				for r := 0; r < got.N; r++ {
					if sameRow(got, r, row, i) {
						have += got.Weight(r)
					}
				}
				return nil
			})
			if err == nil && have < -w {
				err = sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
			}
			return err
		}
		for _, key := range uniqueKeys(rel) {
			vals, null := keyValues(row, i, key)
			if null || net.frees(key, vals) {
				continue
			}
			err := t.lookup(key, vals, func(got *batch.Batch) error {
				if got.N > 0 {
					return duplicateKey(rel, key, vals)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// txReader reads a published epoch and on top of it what a block wrote.
type txReader struct {
	e    *Engine
	s    *sess
	snap *published
	own  map[catalog.OID]*overlay
}

// memory implements reader.
func (r *txReader) memory() int64 { return r.e.queryMemory() }

// reader gives what the session's next statement reads.
func (s *sess) reader() reader {
	if s.tx == nil {
		return &txReader{e: s.e, s: s, snap: s.e.current()}
	}
	return &txReader{e: s.e, s: s, snap: s.tx.snapshot(s.e), own: s.tx.own}
}

// scan implements reader.
func (r *txReader) scan(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error {
	if src.Rel.Kind == catalog.System {
		return r.scanSystem(ctx, src, f)
	}
	o := r.own[src.Rel.OID]
	if o == nil {
		return r.snap.scan(ctx, r.e, src, f)
	}
	if src.Rel.IsAppendOnly() {
		if err := r.snap.scan(ctx, r.e, src, f); err != nil {
			return err
		}
		for _, b := range o.batches {
			if err := f(sourceBatch(src, b, r.snap.epoch+1, 0)); err != nil {
				return err
			}
		}
		return nil
	}
	net := newRowCounts(src.Rel)
	whole := &dataflow.Source{Rel: src.Rel, Cols: allColumns(src.Rel), Tag: src.Tag}
	err := r.snap.scan(ctx, r.e, whole, func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			net.add(b, i, b.Weight(i))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, b := range o.batches {
		for i := 0; i < b.N; i++ {
			net.add(b, i, b.Weight(i))
		}
	}
	return net.batches(func(b *batch.Batch) error { return f(sourceBatch(src, b, r.snap.epoch, 0)) })
}

func allColumns(rel *catalog.Relation) []int {
	cols := make([]int, len(rel.Columns))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// rowCounts sums weights by whole row, in order of first sight.
type rowCounts struct {
	rel   *catalog.Relation
	index map[string]int
	rows  *batch.Batch
	w     []int64
	freed map[string]bool
	buf   []byte
}

func newRowCounts(rel *catalog.Relation) *rowCounts {
	return &rowCounts{rel: rel, index: map[string]int{}, rows: batch.New(rel.Types(), 0), freed: map[string]bool{}}
}

func (c *rowCounts) add(b *batch.Batch, i int, w int64) {
	c.buf = c.buf[:0]
	for _, v := range b.Cols {
		c.buf = types.AppendValue(c.buf, v.Type, v.Datum(i))
	}
	k, ok := c.index[string(c.buf)]
	if !ok {
		k = len(c.w)
		c.index[string(c.buf)] = k
		c.rows.AppendRow(b, i, 1)
		c.w = append(c.w, 0)
	}
	c.w[k] += w
}

// frees says whether a row with these values in a key is deleted by the same change.
func (c *rowCounts) frees(key []int, vals []types.Datum) bool {
	return c.freed[fmt.Sprint(key)+string(encodeKey(nil, c.rel, key, vals))]
}

// each calls f for every row whose weights don't cancel out, deletions first.
func (c *rowCounts) each(f func(row *batch.Batch, i int, w int64) error) error {
	for _, sign := range []int64{-1, 1} {
		for i, w := range c.w {
			if w*sign <= 0 {
				continue
			}
			if sign < 0 {
				for _, key := range uniqueKeys(c.rel) {
					vals, _ := keyValues(c.rows, i, key)
					c.freed[fmt.Sprint(key)+string(encodeKey(nil, c.rel, key, vals))] = true
				}
			}
			if err := f(c.rows, i, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// batches gives the rows that remain, with positive weights.
func (c *rowCounts) batches(f func(*batch.Batch) error) error {
	out := batch.New(c.rel.Types(), batch.Target)
	for i, w := range c.w {
		if w > 0 {
			out.AppendRow(c.rows, i, w)
		}
		if out.N == batch.Target {
			if err := f(out); err != nil {
				return err
			}
			out.Reset()
		}
	}
	return f(out)
}

func sameRow(a *batch.Batch, i int, b *batch.Batch, j int) bool {
	for c := range a.Cols {
		x, y := a.Cols[c].Datum(i), b.Cols[c].Datum(j)
		if x.Null != y.Null || !x.Null && !types.Equal(a.Cols[c].Type, x, y) {
			return false
		}
	}
	return true
}

// beginTxn, commitTxn and rollbackTxn run the transaction statements, with PostgreSQL's warnings.

func (s *sess) beginTxn(iso, access string) (session.Result, error) {
	if s.tx != nil && !s.tx.implicit {
		s.notice(warning(sqlerr.ActiveTransaction, "there is already a transaction in progress"))
		return done("BEGIN"), nil
	}
	if s.tx == nil {
		s.tx = s.newTxn(false)
	}
	s.tx.implicit = false
	if iso != "" {
		s.tx.repeat = repeatable(iso)
	}
	switch access {
	case "read only":
		s.tx.readOnly = true
	case "read write":
		s.tx.readOnly = false
	}
	return done("BEGIN"), nil
}

func warning(code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	w := sqlerr.New(code, format, args...)
	w.Severity = "WARNING"
	return w
}

func (s *sess) commitTxn(ctx context.Context) (session.Result, error) {
	if s.tx == nil || s.tx.implicit {
		s.notice(warning(sqlerr.NoActiveTransaction, "there is no transaction in progress"))
		return done("COMMIT"), nil
	}
	if s.tx.failed {
		s.rollback()
		s.afterBlock()
		return done("ROLLBACK"), nil
	}
	err := s.commit(ctx)
	s.afterBlock()
	if err != nil {
		return nil, err
	}
	return done("COMMIT"), nil
}

func (s *sess) rollbackTxn() (session.Result, error) {
	if s.tx == nil || s.tx.implicit {
		s.notice(warning(sqlerr.NoActiveTransaction, "there is no transaction in progress"))
	}
	s.rollback()
	s.afterBlock()
	return done("ROLLBACK"), nil
}

// afterBlock starts a new implicit transaction for the rest of a simple query that held COMMIT.
func (s *sess) afterBlock() {
	if s.implicit {
		s.tx = s.newTxn(true)
	}
}

// writable refuses a write in a read-only block.
func (s *sess) writable(what string) error {
	if s.tx != nil && s.tx.readOnly {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", what)
	}
	return nil
}

// savepoint runs SAVEPOINT, RELEASE and ROLLBACK TO.
func (s *sess) savepoint(x *ast.Savepoint) (session.Result, error) {
	tag := strings.ToUpper(x.Kind)
	if x.Kind == "rollback to" {
		tag = "ROLLBACK"
	}
	if s.tx == nil || s.tx.implicit {
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "%s can only be used in transaction blocks", strings.ToUpper(strings.Replace(x.Kind, "rollback to", "rollback to savepoint", 1)))
	}
	t := s.tx
	if x.Kind == "savepoint" {
		p := savepoint{name: x.Name, ops: len(t.ops), cat: t.cat, batches: map[catalog.OID]int{}}
		for oid, o := range t.own {
			p.batches[oid] = len(o.batches)
		}
		t.save = append(t.save, p)
		return done(tag), nil
	}
	at := -1
	for i, p := range t.save {
		if p.name == x.Name {
			at = i
		}
	}
	if at < 0 {
		return nil, sqlerr.New("3B001", "savepoint \"%s\" does not exist", x.Name)
	}
	if x.Kind == "release" {
		t.save = t.save[:at]
		return done(tag), nil
	}
	p := t.save[at]
	t.save, t.ops, t.cat, t.failed = t.save[:at+1], t.ops[:p.ops], p.cat, false
	for oid, o := range t.own {
		o.batches, o.indexes = o.batches[:p.batches[oid]:p.batches[oid]], nil
		if len(o.batches) == 0 {
			delete(t.own, oid)
		}
	}
	return done(tag), nil
}

// txSetting shows a setting of the transaction that is open, or that would be opened next.
func (s *sess) txSetting(name string) string {
	t := s.tx
	if t == nil || t.implicit {
		t = s.newTxn(false)
	}
	if name == "transaction_read_only" {
		if t.readOnly {
			return "on"
		}
		return "off"
	}
	if t.repeat {
		return "repeatable read"
	}
	return "read committed"
}

// setTransaction runs SET TRANSACTION ISOLATION LEVEL ... and READ ONLY|READ WRITE.
func (s *sess) setTransaction(x *ast.Set) (session.Result, error) {
	if s.tx == nil || s.tx.implicit {
		s.notice(warning(sqlerr.NoActiveTransaction, "SET TRANSACTION can only be used in transaction blocks"))
		return done("SET"), nil
	}
	for _, v := range x.Values {
		switch v = strings.ToLower(v); v {
		case "repeatable read", "serializable":
			s.tx.repeat = true
		case "read committed", "read uncommitted":
			s.tx.repeat = false
		case "read only", "on", "true":
			s.tx.readOnly = true
		case "read write", "off", "false":
			s.tx.readOnly = false
		default:
			return nil, invalidValue(x.Name, v)
		}
	}
	return done("SET"), nil
}

// restoreSettings gives parameters for which back is true the values that they had when the block began.
func (s *sess) restoreSettings(back func(name string) bool) {
	for name, v := range s.tx.settings {
		if s.set.values[name] == v || !back(name) {
			continue
		}
		s.set.values[name], s.set.env = v, nil
		if d := settingsByName[name]; d != nil && d.report && s.p.ParameterStatus != nil {
			s.p.ParameterStatus(d.name, v)
		}
	}
	for name := range s.set.values {
		if _, ok := s.tx.settings[name]; !ok && back(name) {
			delete(s.set.values, name)
		}
	}
}
