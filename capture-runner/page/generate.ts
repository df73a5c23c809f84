// Writes capture-runner/src/page/generated/sources.ts: the sources of the page functions.
// With --check it writes nothing, and fails if the file is out of date.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundlePageFunctions } from './bundle.ts'

const file = path.join(import.meta.dirname, '../src/page/generated/sources.ts')
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const sources = await bundlePageFunctions()
const text = `// Generated from capture-runner/page by \`npm run generate\`. Do not edit.

/** The source of each page function, as an expression. */
export const sources = {
${Object.entries(sources)
  .map(([name, source]) => `  ${name}: ${JSON.stringify(source)},\n`)
  .join('')}}
`

const isStale = (): boolean => {
  try {
    return readFileSync(file, 'utf8') !== text
  } catch {
    return true
  }
}
if (isStale()) {
  if (!values.check) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  } else {
    console.error('generated files are out of date: sources.ts\nRun `npm run generate` and commit the result.')
    process.exit(1)
  }
}
