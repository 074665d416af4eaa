package fn

// arrayOps are the operators on arrays, without comparisons.
const arrayOps = `
anyarray && anyarray bool
anyarray @> anyarray bool
anyarray <@ anyarray bool
anycompatiblearray || anycompatible anycompatiblearray null
anycompatible || anycompatiblearray anycompatiblearray null
anycompatiblearray || anycompatiblearray anycompatiblearray null
`
