import t from 'tap'
import { podsOf, renderChart } from '../../support/sources/chart.ts'

const pods = podsOf(await renderChart())

t.test('chart mounts the link key only in gateways, and lets them start without it', async (t) => {
  const mounted = pods.flatMap(({ name, spec }) =>
    (spec.volumes ?? []).filter((volume) => JSON.stringify(volume).includes('tintype-link-key')).map((volume) => ({ name, volume })),
  )
  t.match(mounted, [{ name: /api-gateway/, volume: { secret: { secretName: 'tintype-link-key', optional: true } } }])
  t.equal(mounted.length, 1)
})

t.test('chart tells gateways the file of the link key', async (t) => {
  const text = JSON.stringify(pods.find(({ name }) => name.includes('api-gateway')))
  t.match(text, /TINTYPE_LINK_KEY_FILE","value":"\/etc\/tintype\/link-key\/key.json/)
})
