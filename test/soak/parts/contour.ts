import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { undoing } from '../../bench/report/undo.ts'
import { unloadImage } from '../../cluster/images/load.ts'
import { imageReference } from '../../cluster/images/plan.ts'
import { apply, kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { type CertificatePaths, certificatePaths, createAuthority, createCertificate } from '../../cluster/kubernetes/pki.ts'
import { eventually } from '../../support/eventually.ts'
import { checkControl, checkFront, checkRedirect, placeLargeFile, readFailures } from '../ingress/checks.ts'
import { type Envoy, withClientAddress, withContour } from '../ingress/contour.ts'
import { ask, type Front } from '../ingress/front.ts'
import type { Finding, Part, PartContext } from '../part.ts'
import { buildImages, checkOut } from '../stage/old-release.ts'
import { readRunning, tagSettings } from '../stage/running-release.ts'
import { helmOn, NAMESPACE, RELEASE, readFirstKey, type Trial, withTrial } from '../stage/trial-release.ts'

// The API behind a real ingress controller, with the example values of the chart: first an Ingress, then an HTTPRoute at a Gateway.

const TAG = 'contour-head'
const HOST = 'shots.example.com'
/** Outside of all ranges that the cluster uses. */
const CLIENT_ADDRESS = '198.51.100.7'
const GATEWAYS = 'gateways'
const GATEWAY = { name: 'public', namespace: GATEWAYS }
/** Beside the example: log lines of all requests, and runners for captures at the same time. */
const MORE = {
  logLevel: 'debug',
  'runner.minIdle': 2,
  'runner.video.enabled': false,
}

export const contour: Part = {
  name: 'contour',
  shows: 'behind Contour and Envoy, by Ingress and by HTTPRoute: TLS, HTTP/2, held requests, large bodies and downloads, links, addresses',
  run: async (context) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'tintype-front-'))
    const remove = async () => {
      await unloadImage(imageReference('api-gateway', TAG)).catch(() => undefined) // it may not have been built
      await rm(directory, { recursive: true, force: true })
    }
    return undoing(remove, () => withTrial(async (trial) => ({ findings: await goThrough(trial, directory, context) })))
  },
}

async function goThrough(trial: Trial, directory: string, { progress }: PartContext): Promise<Finding[]> {
  await createAuthority(directory)
  const certificate = await createCertificate(directory, 'shots', { user: HOST, names: [`DNS:${HOST}`] })
  const { values, tags } = await readRunning()
  const head = await checkOut('HEAD')
  progress('building the image of the gateway')
  await buildImages(head, TAG, tags, ['api-gateway'])
  const images = tagSettings((image) => (image === 'api-gateway' ? TAG : (tags[image] ?? '')))
  const more = Object.entries(MORE).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  const install = (example: string) => {
    const file = path.join(head.chart, 'examples', example)
    // The cluster's own release uses the CRDs too.
    const flags = ['--skip-crds', '--set', 'crdUpgrade.enabled=false', '--wait', '--timeout', '300s']
    return helmOn('upgrade', '--install', '--reset-values', RELEASE, head.chart, '--values', file, ...values, ...images, ...more, ...flags)
  }

  return withContour(progress, ({ serve }) =>
    withClientAddress(CLIENT_ADDRESS, async () => {
      const findings: Finding[] = []
      await trial.makeNamespace()
      await createTlsSecret(NAMESPACE, `${RELEASE}-tls`, certificate)
      progress('install with the example contour.yaml')
      await install('contour.yaml')
      await trial.whenReady()
      const key = await readFirstKey()
      const frontOf = (envoy: Envoy): Front => ({
        ...{ envoy, host: HOST, authority: certificatePaths(directory, 'ca').certificate, clientAddress: CLIENT_ADDRESS, key, directory },
      })
      const large = await serve(undefined, async (envoy) => {
        const front = frontOf(envoy)
        await whenServed(front)
        const file = await placeLargeFile(front)
        progress('check the Ingress')
        findings.push(...(await checkFront('Ingress', front, file)), await checkRedirect('Ingress', front))
        for (const failure of await readFailures(front)) progress(failure)
        await kubectl(['annotate', 'ingress', `${RELEASE}-api-gateway`, '-n', NAMESPACE, 'projectcontour.io/response-timeout-'])
        findings.push(await checkControl('Ingress', front))
        return file
      })
      progress('upgrade to the example http-route.yaml')
      await undoing(
        () => kubectl(['delete', 'namespace', GATEWAYS, '--ignore-not-found', '--timeout=120s']),
        async () => {
          await createGateway(certificate)
          await install('http-route.yaml')
          await serve(GATEWAY, async (envoy) => {
            const front = frontOf(envoy)
            await whenServed(front)
            progress('check the HTTPRoute')
            findings.push(...(await checkFront('HTTPRoute', front, large)))
            for (const failure of await readFailures(front)) progress(failure)
            const without = JSON.stringify([{ op: 'remove', path: '/spec/rules/0/timeouts' }])
            await kubectl(['patch', 'httproute', `${RELEASE}-api-gateway`, '-n', NAMESPACE, '--type=json', '-p', without])
            findings.push(await checkControl('HTTPRoute', front))
          })
        },
      )
      await head.remove()
      return findings
    }),
  )
}

const whenServed = (front: Front): Promise<boolean> =>
  eventually('the API responds through Envoy', async () => (await ask(front, '/api/v1/status')).status === 200)

async function createTlsSecret(namespace: string, name: string, { certificate, key }: CertificatePaths): Promise<void> {
  const data = { 'tls.crt': await readFile(certificate, 'utf8'), 'tls.key': await readFile(key, 'utf8') }
  await apply(
    JSON.stringify({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name, namespace }, stringData: data }),
  )
}

/** The Gateway that the example names, with a listener for TLS. */
async function createGateway(certificate: CertificatePaths): Promise<void> {
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATEWAYS } }))
  await createTlsSecret(GATEWAYS, 'shots-tls', certificate)
  const apiVersion = 'gateway.networking.k8s.io/v1'
  const listener = {
    name: 'https',
    port: 443,
    protocol: 'HTTPS',
    tls: { mode: 'Terminate', certificateRefs: [{ kind: 'Secret', name: 'shots-tls' }] },
    allowedRoutes: { namespaces: { from: 'All' } },
  }
  const items = [
    { apiVersion, kind: 'GatewayClass', metadata: { name: 'contour' }, spec: { controllerName: 'projectcontour.io/gateway-controller' } },
    { apiVersion, kind: 'Gateway', metadata: GATEWAY, spec: { gatewayClassName: 'contour', listeners: [listener] } },
  ]
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
}
