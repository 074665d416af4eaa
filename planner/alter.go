package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// RowIDColumn is the name of the hidden row id of a table without a key.
const RowIDColumn = catalogRowID

// BindColumn binds the definition of a column that ALTER ... ADD COLUMN adds. Errors are those of CREATE.
func BindColumn(d ast.ColumnDef, o Options) (catalog.Column, error) {
	r, err := BindRelation(&ast.CreateRelation{Stream: true, Columns: []ast.ColumnDef{d}}, o)
	if err != nil {
		return catalog.Column{}, err
	}
	return r.Columns[0], nil
}

// BindWatermark binds the watermark of a stream with the given columns.
func BindWatermark(w *ast.WatermarkDef, cols []catalog.Column, o Options) (out *catalog.Watermark, err error) {
	defer recoverBind(&err)
	return newBinder(o).watermark(w, cols), nil
}
