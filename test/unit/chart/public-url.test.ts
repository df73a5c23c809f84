import t from 'tap'
import { podsOf, renderChart, renderNotes } from '../../support/sources/chart.ts'

// Links in responses and events start with the public URL. It defaults to the URL of the ingress.

const ingress = { 'ingress.enabled': true, 'ingress.host': 'shots.example.com' }

const route = { 'httpRoute.enabled': true, 'httpRoute.parentRefs': [{ name: 'public' }] }
const hostnames = ['*.example.net', 'shots.example.net']

const cases: { name: string; settings: Record<string, unknown>; url: string }[] = [
  { name: 'an ingress with TLS', settings: { ...ingress, 'ingress.tls.enabled': true }, url: 'https://shots.example.com' },
  { name: 'an ingress without TLS', settings: ingress, url: 'http://shots.example.com' },
  {
    name: 'a public URL in addition to an ingress',
    settings: { ...ingress, 'ingress.tls.enabled': true, 'gateway.publicUrl': 'https://api.example.com/shots' },
    url: 'https://api.example.com/shots',
  },
  { name: 'an ingress without a host', settings: { 'ingress.enabled': true }, url: '' },
  { name: 'the host of a disabled ingress', settings: { 'ingress.host': 'shots.example.com' }, url: '' },
  {
    name: 'the first host name of an HTTPRoute that is not a wildcard',
    settings: { ...route, 'httpRoute.hostnames': hostnames },
    url: 'https://shots.example.net',
  },
  {
    name: 'an HTTPRoute without TLS',
    settings: { ...route, 'httpRoute.hostnames': hostnames, 'httpRoute.scheme': 'http' },
    url: 'http://shots.example.net',
  },
  { name: 'an HTTPRoute without host names', settings: route, url: '' },
  {
    name: 'an ingress beside an HTTPRoute',
    settings: { ...route, 'httpRoute.hostnames': hostnames, ...ingress },
    url: 'http://shots.example.com',
  },
  { name: 'nothing', settings: {}, url: '' },
]
for (const { name, settings, url } of cases) {
  t.test(`chart derives the public URL for gateway and operator from ${name}`, async (t) => {
    const pods = podsOf(await renderChart(settings))
    for (const program of ['Deployment tintype-api-gateway', 'Deployment tintype-operator']) {
      const env = pods.find((pod) => pod.name === program)?.spec.containers[0]?.env
      t.equal(env?.find((variable) => variable.name === 'TINTYPE_PUBLIC_URL')?.value, url, program)
    }
    t.match(await renderNotes(settings), `curl -fsS ${url || 'http://127.0.0.1:8080'}/api/v1/screenshots`)
  })
}
