import path from 'node:path'
import { pathToFileURL } from 'node:url'

const { NODE_COMPILE_CACHE, TINTYPE_TEST_TIMES } = process.env

/** Environment for programs that tests start: Node's compile cache, if the run has one, and what `npm test -- --times` measures with. */
export const compileCache: Record<string, string> = {
  ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
  ...(TINTYPE_TEST_TIMES ? { TINTYPE_TEST_TIMES, NODE_OPTIONS: importStartTime() } : {}),
}

/** The option of Node.js that writes the time of a start. */
export function importStartTime(): string {
  return `--import=${pathToFileURL(path.join(import.meta.dirname, '../times/start-time.mjs'))}`
}
