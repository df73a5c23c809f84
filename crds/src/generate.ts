import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { toCustomResourceDefinition } from './custom-resource-definition.ts'
import { definitions } from './kinds/all.ts'
import { GROUP } from './names.ts'

// Writes the CRD YAML to crds/generated and to the chart. With --check it writes nothing and fails when a file is not what it would write.

// kubectl reads YAML 1.1, where a bare `n`, `y`, `on` or `off` is a boolean: version 1.1 quotes them.
const FORMAT = { version: '1.1', aliasDuplicateObjects: false, lineWidth: 140 } as const
const HEADER = '# Generated from crds/src by `npm run generate`: edit the zod schemas there.\n'
const folders = [new URL('../generated/', import.meta.url), new URL('../../charts/tintype/crds/', import.meta.url)]

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

function isStale(file: URL, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== text
  } catch {
    return true
  }
}

const stale: string[] = []
for (const definition of definitions) {
  const text = HEADER + stringify(toCustomResourceDefinition(definition), FORMAT)
  for (const folder of folders) {
    const file = new URL(`${GROUP}_${definition.plural}.yaml`, folder)
    if (!isStale(file, text)) continue
    stale.push(file.pathname)
    if (values.check) continue
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, text)
  }
}
if (values.check && stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}\nrun \`npm run generate\` and commit what it writes`)
  process.exit(1)
}
