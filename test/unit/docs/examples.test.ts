import { readdirSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { parseBatchBody } from '../../../api-gateway/src/resources/batches/create-body.ts'
import { parseCreateBody } from '../../../api-gateway/src/resources/screenshots/create-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { repository } from '../../cluster/host/state.ts'
import { chartDirectory, helm, type Rendered } from '../../support/sources/chart.ts'
import { readText } from '../../support/sources/code-blocks.ts'
import { faultsOf } from '../../support/sources/manifest-faults.ts'

// Manifests are checked with the generated CRDs, requests with the schemas of the gateway, values with the schema of the chart.

const folder = 'docs/examples'
const files = readdirSync(`${repository}/${folder}`).filter((file) => file !== 'README.md')
const manifests = files.filter((file) => file.endsWith('.yaml') && !file.startsWith('values-'))
const values = files.filter((file) => file.startsWith('values-'))
const requests: Record<string, (body: unknown) => unknown> = {
  'create-screenshot.json': (body) => parseCreateBody(body, DEFAULT_EGRESS_RULES),
  'create-batch.json': (body) => parseBatchBody(body, DEFAULT_EGRESS_RULES),
}

const objectsOf = (file: string) => parseAllDocuments(readText(`${folder}/${file}`)).map((document) => document.toJS() as Rendered)
t.test('the check of manifests finds unknown fields, missing fields and values out of range', async (t) => {
  const object = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', metadata: { name: 'x' } }
  const faults = (spec: object) => faultsOf({ ...object, spec } as Rendered)
  t.strictSame(faults({ url: 'https://example.com', options: { fullPage: true } }), [])
  t.match(faults({ url: 'https://example.com', options: { full_page: true } }), [/^\/spec\/options: .*full_page/])
  t.match(faults({ options: {} }), [/^\/spec: .*url/])
  t.match(faults({ url: 'https://example.com', options: { imageQuality: 101 } }), [/^\/spec\/options\/imageQuality: /])
  t.match(faultsOf({ ...object, kind: 'Screenshots' }), [/^no CRD of/])
})

t.test('every example is checked, and its README links it', async (t) => {
  t.strictSame([...manifests, ...values, ...Object.keys(requests)].sort(), files.sort())
  const text = readText(`${folder}/README.md`)
  for (const file of files) t.ok(text.includes(`](${file})`), file)
})

for (const file of manifests) {
  t.test(`${file} is valid by the generated CRDs`, async (t) => {
    const objects = objectsOf(file)
    t.ok(objects.length > 0)
    for (const object of objects) {
      t.strictSame(faultsOf(object), [], `${object.kind} ${object.metadata.name}`)
      const { options = {} } = (object as Rendered & Pick<Screenshot, 'spec'>).spec
      const held = contradictions.filter((contradiction) => contradiction.holds(options)).map(({ code }) => code)
      t.strictSame(held, [], 'no options contradict each other')
    }
  })
}

for (const file of values) {
  t.test(`${file} is valid by values.schema.json, and the chart renders with it`, async (t) => {
    const args = ['template', 'tintype', chartDirectory, '--namespace', 'tintype', '--values', `${repository}/${folder}/${file}`]
    t.match(await helm(args), /kind: RunnerPool/)
  })
}

for (const [file, parseBody] of Object.entries(requests)) {
  t.test(`${file} is a body that the gateway accepts`, async (t) => {
    const body = JSON.parse(readText(`${folder}/${file}`))
    t.doesNotThrow(() => parseBody(body))
    t.throws(() => parseBody({ ...body, optoins: {} }), { code: 'VALIDATION_ERROR' }, 'the control: an unknown field is an error')
  })
}
