// Loaded before the entry of each Node.js process while `npm test -- --times` runs. It writes the processor time that the process has used when the last
// module of its entry is found: the start of Node.js, and the reading and compiling of sources. Old versions of Node.js, which some tests start, load it too.

import { writeFileSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'

const directory = process.env.TINTYPE_TEST_TIMES
/** The entry is loaded when no module was found for this time. */
const PAUSE_MILLISECONDS = 200

if (directory !== undefined && module.registerHooks !== undefined) {
  let used = process.cpuUsage()
  const hooks = module.registerHooks({
    resolve: (specifier, context, next) => {
      used = process.cpuUsage()
      timer.refresh()
      return next(specifier, context)
    },
  })
  const timer = setTimeout(() => {
    hooks.deregister()
    try {
      writeFileSync(path.join(directory, `${process.pid}`), String((used.user + used.system) / 1e6))
    } catch {
      // Some tests run as users who cannot write here. Their start counts as their work.
    }
  }, PAUSE_MILLISECONDS).unref()
}
