package plan

import "github.com/tidemarkdb/tidemark/sql/catalog"

type (
	// AsofJoin gives each row of Left (port 0) the one row of Right (port 1) with equal keys whose time is nearest to its own among
	// those for which LeftTime Op RightTime holds: the greatest for >= and >, the least for <= and <. Of several rows with that time it is the one whose
	// encoding is greatest, or least. Output columns: left's then right's. NULLs are equal to nothing.
	AsofJoin struct {
		Base
		Left, Right Node
		// Outer keeps left rows without such a row, with NULLs.
		Outer               bool
		LeftKeys, RightKeys []Expr
		// LeftTime and RightTime are compared by Op: "<", "<=", ">", ">=". They have one type, which need not be a time unless Timed.
		LeftTime, RightTime Expr
		Op                  string
		// Timed says that both times carry a watermark and that both inputs are append-only: rows at or below it are final, leave the state and
		// come too late.
		Timed bool
		// LeftLead and RightLead are those of a Join.
		LeftLead, RightLead int64
		Mode                catalog.OutputMode
	}
	// Lookup joins each row of Left (port 0) with the rows of Right (port 1) as they are at the end of the epoch in which the left row
	// comes; later changes of Right change nothing. Left is append-only. Output columns: left's then right's.
	Lookup struct {
		Base
		Left, Right Node
		// Outer keeps left rows without a match, with NULLs.
		Outer bool
		// LeftKeys, RightKeys, NullSafe and Residual are those of a Join.
		LeftKeys, RightKeys []Expr
		NullSafe            []bool
		Residual            Expr
	}
)

// Inputs implements Node.
func (n *AsofJoin) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Lookup) Inputs() []Node { return []Node{n.Left, n.Right} }

// Past says whether the match of a left row is at or before its time.
func (n *AsofJoin) Past() bool { return n.Op == ">=" || n.Op == ">" }
