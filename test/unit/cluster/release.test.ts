import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { SHORT_RETRIES } from '../../cluster/release/release.ts'

t.test('the local cluster retries webhooks as the chart does, so that an event outlives an outage there too', async (t) => {
  const values = readFileSync(path.join(import.meta.dirname, '../../cluster/release/values.yaml'), 'utf8')
  t.notOk('retryDelaysMilliseconds' in parse(values).webhooks)
  t.match(SHORT_RETRIES, /^webhooks\.retryDelaysMilliseconds=\{\d{1,4},\d{1,4}\}$/)
})
