const { NODE_COMPILE_CACHE } = process.env

/** Environment for programs that tests start: Node's compile cache, if the run has one. */
export const compileCache: Record<string, string> = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
