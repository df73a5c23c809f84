// Writes capture-runner/src/page/generated: the sources of the page functions, and the names of the steps for the records of captures.
// With --check it writes nothing, and fails if a file is out of date.

import path from 'node:path'
import { writeGenerated } from '../../crds/generate/write-generated.ts'
import { STEPS } from '../src/capture/run.ts'
import { bundlePageFunctions } from './bundle.ts'

const directory = path.join(import.meta.dirname, '../src/page/generated')
const stepsFile = path.join(import.meta.dirname, '../../crds/src/records/generated/capture-steps.ts')

const toModule = (what: string, name: string, sources: Readonly<Record<string, string>>): string =>
  `// Generated from capture-runner/page by \`npm run generate\`. Do not edit.

/** The source of each ${what}, as an expression. */
export const ${name} = {
${Object.entries(sources)
  .map(([name, source]) => `  ${name}: ${JSON.stringify(source)},\n`)
  .join('')}}
`

const steps = ['browser', ...new Set(STEPS.map(({ name }) => name)), 'compare', 'upload']
const stepsText = `// Generated from STEPS of capture-runner/src/capture/run.ts by \`npm run generate\`. Do not edit.

/** The steps of a capture, in the order in which the runner executes them. */
export const CAPTURE_STEPS: readonly string[] = ${JSON.stringify(steps)}
`

writeGenerated({
  [path.join(directory, 'sources.ts')]: toModule('page function', 'sources', await bundlePageFunctions('index')),
  [path.join(directory, 'large-sources.ts')]: toModule('page function with libraries', 'largeSources', await bundlePageFunctions('large')),
  [stepsFile]: stepsText,
})
