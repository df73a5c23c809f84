import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import tls from 'node:tls'
import { accessFromFiles } from '@tintype/crds/client/cluster-access'
import { KubeHttp } from '@tintype/crds/client/kube-http'
import pino from 'pino'
import { openLists } from './blocking/lists.ts'
import { flagsOf, launchBrowser } from './browser/browser.ts'
import { Browsers } from './browser/browsers.ts'
import { capture } from './capture/capture.ts'
import { type Config, loadConfig } from './config.ts'
import { createGuard } from './egress/guard.ts'
import type { EgressPolicy } from './egress/route.ts'
import { HttpCache } from './http-cache/http-cache.ts'
import { openJail } from './jail/jail.ts'
import { BROWSER_HOME, isSandboxSufficient, probeSandbox } from './jail/probe-sandbox.ts'
import { landlockWrapper } from './jail/wrapper.ts'
import { createMemoryWatch } from './runtime/memory-watch.ts'
import { certificatesOf, trustAuthorities } from './runtime/trust.ts'
import { VERSION } from './runtime/version.ts'
import { createOrderKeys, createVerifier } from './server/authentication.ts'
import { LivenessProbe } from './server/liveness-probe.ts'
import { createReporter } from './server/report.ts'
import { Runner } from './server/runner.ts'
import { buildServer } from './server/server.ts'
import { toVideoReport } from './video/directory.ts'
import { probeRecorder } from './video/probe.ts'

// Wires the parts together. The sandbox probe comes first, because its result determines how browsers start.

const config = loadConfig(process.env)
const log = pino({ level: config.TINTYPE_LOG_LEVEL, base: { pod: config.TINTYPE_POD_NAME } })

const { extraCaBundle } = config.TINTYPE_EGRESS
if (extraCaBundle) {
  await trustAuthorities(extraCaBundle, BROWSER_HOME)
  // For clients' storage, which the runner itself connects to.
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...certificatesOf(extraCaBundle)])
}
const secrets = {
  programsDirectory: config.TINTYPE_JAIL_DIRECTORY,
  secretFiles: [config.TINTYPE_KUBERNETES_TOKEN_FILE, config.TINTYPE_DISPATCH_TOKEN_FILE],
}
const sandbox = await probeSandbox({
  ...secrets,
  mode: config.TINTYPE_SANDBOX_MODE,
  browserPath: config.TINTYPE_CHROMIUM,
  listeners: [],
})
// A runner that may not capture keeps running, so that the operator can query the reason.
const mayCapture = isSandboxSufficient(config.TINTYPE_SANDBOX_MODE, sandbox)
const guard = createGuard({ ownPorts: [config.TINTYPE_PORT] })
const launch = () =>
  launchBrowser({
    executablePath: config.TINTYPE_CHROMIUM,
    chromiumSandbox: sandbox.chromiumSandbox,
    guard,
    ...(sandbox.jail ? { openJail: () => openJail(secrets) } : {}),
    ...(sandbox.hidesTokens ? { wrapper: landlockWrapper(secrets) } : {}),
    extraArguments: flagsOf(config.TINTYPE_FRAME_CONTROL, config.TINTYPE_VIDEO),
  })
const recorder =
  config.TINTYPE_VIDEO && mayCapture
    ? await probeRecorder({ launch, program: config.TINTYPE_FFMPEG, directory: config.TINTYPE_VIDEO_DIRECTORY, secrets })
    : undefined
const browsers = new Browsers({
  launch,
  isolation: config.TINTYPE_ISOLATION,
  log,
  hasFrameControl: config.TINTYPE_FRAME_CONTROL,
})
const reporter = createReporter({ http: new KubeHttp(toAccess(config)), log })
const lists = openLists(config.TINTYPE_LISTS_DIRECTORY)
const parts = {
  browsers,
  guard,
  policy: toPolicy(config),
  lists,
  httpCache: new HttpCache(),
  memory: createMemoryWatch({ limitBytes: config.TINTYPE_MEMORY_LIMIT_BYTES, log }),
  recorder,
}
const livenessProbe = new LivenessProbe({ takeScreenshot: (signal) => browsers.checkStandby(signal), now: () => performance.now(), log })
const runner = new Runner({
  capture: (order, canceled, { onPageReady, onTaken }) => {
    const noteTaken = () => {
      livenessProbe.note()
      onTaken()
    }
    return capture(order, parts, canceled, { onPageReady, onTaken: noteTaken })
  },
  report: (order, outcome, canceled) => reporter.report({ ...order, podUid: config.TINTYPE_POD_UID }, outcome, canceled),
  log,
})
if (!mayCapture) await runner.close(0)
let isClosing = false
// Without lists in the image, captures work but block nothing.
const listsUpdated = await lists.versions().then(
  ({ updated }) => updated,
  () => undefined,
)
const server = buildServer({
  runner,
  verifier: await createVerifier({ publicKey: config.TINTYPE_DISPATCH_PUBLIC_KEY, audience: config.TINTYPE_POD_UID }),
  keys: await createOrderKeys(),
  sandbox,
  version: VERSION,
  listsUpdated,
  video: toVideoReport(recorder),
  tokenFile: config.TINTYPE_DISPATCH_TOKEN_FILE,
  isReady: () => !isClosing && (browsers.isUp || !mayCapture),
  isAlive: () => isClosing || !mayCapture || livenessProbe.check(),
  log,
})

process.once('SIGTERM', () => void stop())
server.listen(config.TINTYPE_PORT)
await Promise.all([once(server, 'listening'), ...(mayCapture ? [browsers.start()] : [])])
if (recorder && 'unavailable' in recorder) log.error({ reason: recorder.unavailable }, 'videos unavailable')
if (recorder && 'command' in recorder && !recorder.command.wrapper) log.warn('ffmpeg can read the tokens of this pod')
if (mayCapture) log.info({ sandbox, listsUpdated }, 'runner ready')
else log.error({ sandbox }, 'required sandbox unavailable; runner will not capture')

async function stop(): Promise<void> {
  isClosing = true
  await runner.close(config.TINTYPE_SHUTDOWN_GRACE_MILLISECONDS)
  await browsers.stop()
  server.close()
  server.closeAllConnections()
  process.exit(0)
}

function toAccess({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, ...rest }: Config) {
  return accessFromFiles({
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: rest.TINTYPE_NAMESPACE,
    tokenFile: rest.TINTYPE_KUBERNETES_TOKEN_FILE,
    caFile: rest.TINTYPE_KUBERNETES_CA_FILE,
  })
}

function toPolicy({ TINTYPE_EGRESS: egress, TINTYPE_MAX_TRAFFIC_BYTES: maxBytes }: Config): EgressPolicy {
  const { allowedHosts = [], allowedCidrs = [], deniedCidrs = [], allowedPorts = [], upstreamProxy } = egress
  return {
    rules: { allowedHosts, allowedCidrs, deniedCidrs, allowedPorts },
    maxBytes,
    ...(upstreamProxy ? { parentProxy: { url: upstreamProxy, direct: [], chosenBy: 'operator' as const } } : {}),
  }
}
