import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import t from 'tap'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'

const URL = 'https://site.example/'
const partitionOf = (options: CaptureOptions, secrets?: PrivateOptions, batchId: string | undefined = 'batch_1', url = URL) =>
  buildPlan(url, { httpCache: 'batch', ...options }, secrets, batchId).httpCache?.partition

t.test('buildPlan shares responses within a batch by default', async (t) => {
  for (const options of [undefined, {}, { httpCache: 'batch' }] as const)
    t.match(buildPlan(URL, options, undefined, 'batch_1'), { httpCache: { partition: /^[0-9a-f]{64}$/ } })
})

t.test('buildPlan shares nothing outside of a batch, and nothing when http_cache is off', async (t) => {
  t.equal(buildPlan(URL, { httpCache: 'batch' }).httpCache, undefined)
  t.equal(buildPlan(URL, { httpCache: 'off' }, undefined, 'batch_1').httpCache, undefined)
})

t.test('pages of a batch with the same options share a partition', async (t) => {
  t.equal(partitionOf({}), partitionOf({}, undefined, 'batch_1', 'https://other.example/'))
  t.equal(partitionOf({ locale: 'de-DE', darkMode: true }), partitionOf({ darkMode: true, locale: 'de-DE' }), 'in any order')
})

const others: { name: string; partition: string | undefined }[] = [
  { name: 'batch', partition: partitionOf({}, undefined, 'batch_2') },
  { name: 'proxy', partition: partitionOf({ proxy: 'http://proxy.example:3128' }) },
  { name: 'user agent', partition: partitionOf({ userAgent: 'x' }) },
  { name: 'locale', partition: partitionOf({ locale: 'de-DE' }) },
  { name: 'time zone', partition: partitionOf({ timezone: 'Europe/Berlin' }) },
  { name: 'certificate check', partition: partitionOf({ ignoreHttpsErrors: true }) },
  { name: 'headers', partition: partitionOf({}, { headers: { 'X-A': '1' } }) },
  { name: 'other headers', partition: partitionOf({}, { headers: { 'X-A': '2' } }) },
  { name: 'headers for another origin', partition: partitionOf({}, { headers: { 'X-A': '1' } }, 'batch_1', 'https://other.example/') },
  { name: 'credentials', partition: partitionOf({}, { basicAuthUsername: 'a', basicAuthPassword: 'b' }) },
  { name: 'cookies', partition: partitionOf({}, { cookies: [{ name: 'a', value: 'b' }] }) },
  { name: 'credentials of a proxy', partition: partitionOf({ proxy: 'http://proxy.example:3128' }, { proxyUsername: 'a' }) },
]

t.test('captures that differ in anything that affects requests have separate partitions', async (t) => {
  const all = [partitionOf({}), ...others.map(({ partition }) => partition)]
  t.equal(new Set(all).size, all.length, others.map(({ name }) => name).join(', '))
})
