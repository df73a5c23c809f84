import { readFileSync } from 'node:fs'
import t from 'tap'
import { signedParameters } from '../../../../../api-gateway/client/src/link/canonical.ts'
import { captureOptionFields, recordOptions } from '../../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { isTracking, TRACKING_NAMES, TRACKING_PREFIXES } from '../../../../../api-gateway/src/resources/take/tracking-parameters.ts'

const names = Object.values(TRACKING_NAMES).flat()
const samples = [...names, ...TRACKING_PREFIXES.map((prefix) => `${prefix}x`)]

t.test('gateway and client leave out the same tracking parameters', async (t) => {
  for (const name of samples) {
    t.ok(isTracking(name), name)
    t.strictSame(signedParameters(`${name}=1&url=a`), [['url', 'a']], name)
  }
})

t.test('neither an option nor a parameter of links is a tracking parameter', async (t) => {
  const own = ['key', 'url', 'expires', 'signature', 'on_error', ...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]
  t.strictSame(own.filter(isTracking), [])
})

t.test('docs/links.md lists each tracking parameter', async (t) => {
  const page = readFileSync(new URL('../../../../../docs/links.md', import.meta.url), 'utf8')
  const isListed = (text: string): boolean => page.includes(`\`${text}\``)
  t.strictSame(
    [...names, ...TRACKING_PREFIXES.map((prefix) => `${prefix}*`)].filter((name) => !isListed(name)),
    [],
  )
})
