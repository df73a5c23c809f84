const { NODE_COMPILE_CACHE } = process.env

/** For the environment of programs that tests start: where Node keeps what it has compiled, if the run has such a place. */
export const compileCache: Record<string, string> = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
