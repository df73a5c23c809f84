// Runs test files one after the other in this process: `node run-group.ts FILE…`. Each file is a subtest, and the `t` that it imports from tap is that
// subtest.

import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

// tap names the folders of fixtures by the arguments. All files would be too long a name.
const files = process.argv.splice(2)
const { default: t } = await import('tap')
const { startFile } = await import('./current-file.ts')
const CURRENT_FILE = new URL('current-file.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) => (specifier === 'tap' ? { url: CURRENT_FILE, shortCircuit: true } : next(specifier, context)),
})
for (const file of files)
  t.test(file, async (test) => {
    startFile(test)
    await import(pathToFileURL(path.resolve(file)).href)
  })
