import t from 'tap'
import { hasTag, hasVersion, versionTag } from '../../../../api-gateway/src/http/etag.ts'

const seen = versionTag({ generation: 2, resourceVersion: '100' })
const counted = versionTag({ generation: 2, resourceVersion: '101' })
const changed = versionTag({ generation: 3, resourceVersion: '102' })

t.test('versionTag differs when anything has changed', async (t) => {
  t.equal(new Set([seen, counted, changed]).size, 3)
  t.equal(hasTag(seen, counted), false)
})

const cases: [header: string, tag: string, is: boolean][] = [
  [seen, seen, true],
  [seen, counted, true],
  [seen, changed, false],
  [`"x", ${seen}`, counted, true],
  ['*', changed, true],
  ['"x"', seen, false],
  [`W/${seen}`, seen, true],
  [`W/${seen}`, counted, true],
  [`W/${seen}`, changed, false],
  ['', seen, false],
]
for (const [header, tag, is] of cases) {
  t.test(`hasVersion takes ${header || 'nothing'} ${is ? '' : 'not '}for ${tag}`, async (t) => t.equal(hasVersion(header, tag), is))
}
