// Writes capture-runner/src/page/generated/sources.ts: the sources of the page functions.
// With --check it writes nothing, and fails if the file is out of date.

import path from 'node:path'
import { writeGenerated } from '../../crds/generate/write-generated.ts'
import { bundlePageFunctions } from './bundle.ts'

const file = path.join(import.meta.dirname, '../src/page/generated/sources.ts')

const sources = await bundlePageFunctions()
const text = `// Generated from capture-runner/page by \`npm run generate\`. Do not edit.

/** The source of each page function, as an expression. */
export const sources = {
${Object.entries(sources)
  .map(([name, source]) => `  ${name}: ${JSON.stringify(source)},\n`)
  .join('')}}
`

writeGenerated({ [file]: text })
