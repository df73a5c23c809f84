import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { GROUP } from '../src/identifiers/names.ts'
import { definitions, toCustomResourceDefinition } from './custom-resource-definition.ts'
import { withFolderTable, withPolicies } from './folder-tables.ts'
import { buildOptionsPage, readProofs } from './options-page.ts'
import { writeGenerated } from './write-generated.ts'

// Writes the chart's CRDs, docs/options.md, and the tables of the bucket's folders. With --check it writes nothing, and fails if a file is out of date.

// kubectl reads YAML 1.1, in which an unquoted `n`, `y`, `on` or `off` is a boolean. With version 1.1, the library quotes these words.
const FORMAT = { version: '1.1', aliasDuplicateObjects: false, lineWidth: 140 } as const
const HEADER = '# Generated from crds/src by `npm run generate`: edit the zod schemas there.\n'
const folder = new URL('../../charts/tintype/crds/', import.meta.url)

const files: Record<string, string> = {}

for (const definition of definitions) {
  const text = HEADER + stringify(toCustomResourceDefinition(definition), FORMAT)
  files[fileURLToPath(new URL(`${GROUP}_${definition.plural}.yaml`, folder))] = text
}
const root = new URL('../../', import.meta.url)
const tests = globSync('test/integration/**/*.test.ts', { cwd: fileURLToPath(root) }).toSorted()
const proofs = tests.flatMap((file) => readProofs(file, readFileSync(new URL(file, root), 'utf8')))
files[fileURLToPath(new URL('docs/options.md', root))] = buildOptionsPage(proofs)
for (const [name, update] of Object.entries({ 'docs/architecture.md': withFolderTable, 'charts/tintype/README.md': withPolicies })) {
  const file = fileURLToPath(new URL(name, root))
  files[file] = update(readFileSync(file, 'utf8'))
}
writeGenerated(files)
