import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { paths, toolsDirectory } from '../../cluster/host/state.ts'
import { apply, kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { clusterStage } from '../cluster/stage/cluster-objects.ts'
import { type Report, scenario } from '../harness/scenario.ts'
import {
  compareRelease,
  fillRelease,
  loseNamespace,
  openReceiver,
  restoreVolume,
  saveVolume,
  trustReceivers,
} from './stage/lost-namespace.ts'
import { buildImages, checkOut } from './stage/old-release.ts'
import { readRunning, tagSettings } from './stage/running-release.ts'
import { findMissingPictures, helmOn, NAMESPACE, openTrial, RELEASE, readSecret, withGateway } from './stage/trial-release.ts'

// Runs the commands of docs/operations.md on a separate release, with its names in place of the page's. After each chapter a new capture succeeds, and
// all earlier files can still be downloaded.

const TAG = 'release-manual'
const COLLECTOR = 'collector'
const UNFINISHED = 8
/** Archives finished records quickly. */
const LIVE_SECONDS = 120
const GENEROUS_MILLISECONDS = 300_000

/** The commands of a chapter, including inline ones. */
interface Chapter {
  blocks: string[]
  inline: string[]
}

async function readChapter(directory: string, title: string): Promise<Chapter> {
  const manual = await readFile(path.join(directory, 'docs/operations.md'), 'utf8')
  const chapter = new RegExp(`^## ${title}$(.*?)(?=^## )`, 'ms').exec(`${manual}\n## `)?.[1]
  if (chapter === undefined) throw new Error(`unknown chapter: ${title}`)
  const blocks = [...chapter.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  const inline = [...chapter.replaceAll(/^```sh\n.*?^```$/gms, '').matchAll(/`((?:kubectl|helm) [^`]*)`/g)].map(([, line = '']) => line)
  return { blocks, inline }
}

/** Replaces the name of the release and its namespace, which are `tintype` in the docs page. */
const toTrial = (script: string): string =>
  script
    .replaceAll(/-n tintype\b/g, `-n ${NAMESPACE}`)
    .replaceAll(/(helm (?:install|upgrade|rollback|uninstall|test|get values)) tintype\b/g, `$1 ${RELEASE}`)
    .replaceAll(/\bnamespace tintype\b/g, `namespace ${NAMESPACE}`)
    .replaceAll(/\b(deployments?|deploy|statefulset|secret|lease)([/ ])tintype-/g, `$1$2${RELEASE}-`)
    .replaceAll(/\btintype-(runner-status|trusted-(?:status|spec))\b/g, `${NAMESPACE}-${RELEASE}-$1`)
    .replaceAll('--clusterrole=tintype-', `--clusterrole=${NAMESPACE}-${RELEASE}-`)

/** Runs a script in a shell, and stops at the first failed command. */
async function type(script: string, directory: string): Promise<void> {
  const environment = { KUBECONFIG: paths.kubeconfig, PATH: `${toolsDirectory}:${process.env.PATH}` }
  await run('bash', ['-euo', 'pipefail', '-c', toTrial(script)], { directory, environment }).catch((error: unknown) => {
    throw error instanceof CommandError ? new Error(`the shell failed: ${error.output.slice(-1_500)}`, { cause: error }) : error
  })
}

export const clusterManual = scenario({
  name: 'cluster-manual',
  shows: 'the commands of docs/operations.md do what the page says: scale, back up, restore, repair, rotate keys, trace',
  stage: clusterStage,
  options: { chapter: undefined },
  run: async ({ settings: { chapter: only }, ...report }) => {
    const trial = await openTrial(report.ends)
    const { values, tags } = await readRunning()
    await trial.makeNamespace()
    // A separate checkout, so that page, chart and programs have the same version, and files of the commands stay there.
    const sources = await checkOut('HEAD')
    const { directory, chart } = sources
    report.progress('building the images')
    await buildImages(sources, TAG, tags)
    const chosen = [...values, ...tagSettings(tags, TAG), '--set', `retention.liveForSeconds=${LIVE_SECONDS}`, ...(await trustReceivers())]
    const wait = ['--wait', '--timeout', '300s']
    const install = () => helmOn('install', RELEASE, chart, ...chosen, ...wait)
    await install()
    await trial.whenReady()
    const ids: string[] = []
    const chapter = async (name: string, act: () => Promise<void>) => {
      if (only !== undefined && name !== only && ids.length > 0) return
      report.progress(name)
      try {
        await act()
        await trial.whenReady()
        const { metadata } = await trial.create()
        await trial.whenAllFinished([metadata.name])
        ids.push(screenshotIdOf(metadata))
        const missing = await findMissingPictures(ids)
        report.holds(name, missing.length === 0, missing.join(' ') || `${ids.length} pictures can be downloaded`)
      } catch (error) {
        report.holds(name, false, error instanceof Error ? error.message : String(error))
      }
    }

    await chapter('before the first command', async () => undefined)
    await chapter('scale', async () => {
      const [scale = ''] = (await readChapter(directory, 'Scale')).inline.filter((line) => line.includes(' scale '))
      await type(scale, directory)
      await eventually(
        'the pool has two idle runners',
        async () => (await read('runnerpool/default', '.status.idle')) === '2',
        GENEROUS_MILLISECONDS,
      )
      await type(scale.replace(/=\d+$/, '=1'), directory)
    })
    await chapter('another pool', async () => {
      for (const block of (await readChapter(directory, 'Pools and failures')).blocks) await type(block, directory)
      await kubectl(['delete', 'runnerpool', 'large', '-n', NAMESPACE])
    })
    await chapter('logs and metrics', async () => {
      const [metrics = '', logs = ''] = (await readChapter(directory, 'Read the metrics')).blocks
      // The first line needs the Prometheus operator, which is not installed.
      await type(`${metrics.split('\n').slice(1).join('\n')}\nkill $!`, directory)
      await type(logs, directory)
    })
    await chapter('rotate keys', async () => {
      for (const block of (await readChapter(directory, 'Rotate keys')).blocks.filter((block) => !block.includes('$leaked'))) {
        await type(block, directory)
        await kubectl(['rollout', 'status', `deployment/${RELEASE}-operator`, '-n', NAMESPACE])
      }
    })
    await chapter('rotate the store’s keys', async () => {
      const { inline, blocks } = await readChapter(directory, 'Rotate keys')
      const [remove = ''] = inline.filter((line) => line.includes('storage-gateway'))
      const leaked = await readSecret(`${RELEASE}-storage-gateway`, 'access-key')
      await type(remove, directory)
      await helmOn('upgrade', RELEASE, chart, '--reuse-values', ...wait)
      const [end = ''] = blocks.filter((block) => block.includes('$leaked'))
      await type(`leaked=${leaked}\n${end}`, directory)
      await kubectl(['rollout', 'status', `deployment/${RELEASE}-api-gateway`, '-n', NAMESPACE])
    })
    await chapter('traces', async () => {
      await startCollector(TAG)
      const [upgrade = ''] = (await readChapter(directory, 'Traces')).blocks
      await type(upgrade.replace('otel-collector.observability', `${COLLECTOR}.${NAMESPACE}`), directory)
      for (const name of ['operator', 'api-gateway']) await kubectl(['rollout', 'status', `deployment/${RELEASE}-${name}`, '-n', NAMESPACE])
      // Spans are created only for requests.
      await withGateway(({ ask }) => ask('/screenshots'))
      await eventually('spans come', async () => (await kubectl(['logs', COLLECTOR, '-n', NAMESPACE])).includes('/v1/traces'))
    })
    await chapter('back up and restore', async () => {
      const [backUp = '', restore = ''] = (await readChapter(directory, 'Back up and restore')).blocks
      const receiver = await openReceiver(report.ends)
      const before = await fillRelease(trial, receiver, ids)
      const areArchived = async () => (await trial.shots.listAll()).length === 0
      await eventually('finished Screenshots are archived', areArchived, GENEROUS_MILLISECONDS)
      const unfinished = await Promise.all(Array.from({ length: UNFINISHED }, () => trial.create()))
      await type(backUp, directory)
      const waiting = await readFile(path.join(directory, 'backup/waiting.json'), 'utf8')
      const volume = await saveVolume()
      report.progress('the namespace is deleted')
      await loseNamespace()
      await trial.makeNamespace()
      await restoreVolume(volume)
      await type(restore, directory)
      await trial.whenReady()
      const names = unfinished.map(({ metadata }) => metadata.name)
      await trial.whenAllFinished(names.filter((name) => waiting.includes(name)))
      await compareRelease(report, before, receiver, UNFINISHED)
      await eventually('newly finished Screenshots are archived', areArchived, GENEROUS_MILLISECONDS)
      report.note('records are archived after the restore as before', 'no finished record is left in the Kubernetes API')
      report.progress('a status is repaired')
      await repairStatus(report, directory)
    })
  },
})

/** Runs the commands of the page with the files of a backup. The user whom the page names writes a status only while the role is bound. */
async function repairStatus({ note }: Report, directory: string): Promise<void> {
  const [bind = '', repair = ''] = (await readChapter(directory, 'Repair a status')).blocks
  const [grant = '', revoke = ''] = bind.split('\n')
  const [, user = ''] = /--user=(\S+)/.exec(grant) ?? []
  await kubectl(['create', 'role', 'writer', '--verb=get,patch', '--resource=webhooks.tintype.dev/status', '-n', NAMESPACE])
  await kubectl(['create', 'rolebinding', 'writer', '--role=writer', `--user=${user}`, '-n', NAMESPACE])
  const patch = `kubectl -n tintype patch webhook/by-hand --subresource=status --type=merge -p '{"status":{"url":"x"}}' --as=${user}`
  const write = () =>
    type(patch, directory).then(
      () => 'written',
      (error: Error) => error.message,
    )
  const refusal = await eventually('the policy refuses', async () => {
    const message = await write()
    return message.includes('verb repair') && message
  })
  await type(grant, directory)
  await eventually('the role is in force', async () => (await write()) === 'written')
  await type(repair, directory)
  await type(revoke, directory)
  await eventually('the role has ended', async () => (await write()) !== 'written')
  note('only a user with the verb repair writes a status', refusal.trim().slice(-200))
}

const read = (object: string, field: string): Promise<string> => kubectl(['get', object, '-n', NAMESPACE, '-o', `jsonpath={${field}}`])

/** A collector that accepts spans and logs requests. */
async function startCollector(tag: string): Promise<void> {
  const program = `require('http').createServer((q, a) => { console.log(q.url); q.resume().on('end', () => a.end('{}')) }).listen(4318)`
  const restricted = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const image = `localhost/tintype/api-gateway:${tag}`
  const container = { name: COLLECTOR, image, imagePullPolicy: 'Never', command: ['node', '-e', program], securityContext: restricted }
  const metadata = { name: COLLECTOR, namespace: NAMESPACE, labels: { app: COLLECTOR } }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } }
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: COLLECTOR }, ports: [{ port: 4318 }] } }
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [pod, service] }))
  await kubectl(['wait', '--for=condition=Ready', `pod/${COLLECTOR}`, '-n', NAMESPACE, '--timeout=120s'])
}
