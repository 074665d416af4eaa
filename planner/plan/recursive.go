package plan

type (
	// Recursive is WITH RECURSIVE, in a SELECT only: the rows of Anchor, and then, as long as there are new ones, what Step makes of
	// those of the round before.
	Recursive struct {
		Base
		Anchor Node
		// Consts are the parts of the recursive term that do not depend on the rows of the round before.
		Consts []Node
		// Step is the recursive term. Its leaves are WorkTables. It is no input: the operator runs it by itself.
		Step Node
		// All keeps duplicates; without it a row that was there before is not new.
		All bool
	}
	// WorkTable is a leaf of the Step of a Recursive: the rows of the round before (Port 0), or those of Consts[Port-1].
	WorkTable struct {
		Base
		Port int
	}
)

// Inputs implements Node.
func (n *Recursive) Inputs() []Node { return append([]Node{n.Anchor}, n.Consts...) }

// Inputs implements Node.
func (n *WorkTable) Inputs() []Node { return nil }
