import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import type { Test } from 'tap'
import { API_VERSION } from '../../../../crds/src/identifiers/names.ts'
import { releaseName, releaseNamespace } from '../../../cluster/host/state.ts'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { inside } from '../../../cluster/kubernetes/network.ts'
import { createCertificate } from '../../../cluster/kubernetes/pki.ts'
import { webhookAuthority } from '../../../cluster/release/webhook-authority.ts'
import { wrapPng } from '../../../sites/src/png.ts'
import { FLOODS } from '../../../support/attack/floods.ts'
import { type Answer, absolute, call, type RecordBody } from '../../../support/cluster/api-client.ts'
import { startInCluster } from '../../../support/cluster/program.ts'
import { createDirectory } from '../../../support/directory.ts'
import type { PublicSite } from '../../../support/servers/public-site-program.ts'
import { withEnds } from '../../harness/undo.ts'
import { readSecret } from '../../releases/stage/trial-release.ts'

// What an account can do to others with the default limits. Each attack creates its captures and returns; the scenario waits until they end.

/** Label of objects that an attack creates by the thousand, for their deletion in one request. */
export const ATTACKER_LABEL = 'attacker'

/** The attacking account. */
export interface Attacker {
  key: string
  account: string
  /** URL of the flooding receiver. */
  receiver: string
  /** Creates objects with kubectl, in the name of the account. */
  apply: (objects: readonly object[]) => Promise<unknown>
  /** Aborted when the attack must end. */
  signal: AbortSignal
}

/** One attack. */
export interface Attack {
  name: string
  run: (attacker: Attacker) => Promise<void>
}

const SITE = 'http://pages.sites.svc.cluster.local'
const small = { viewport_width: 100, viewport_height: 100 }
/** Largest time of one attempt. */
const LONGEST = { job_timeout: 600_000, timeout: 180_000 }

const post = ({ key }: Attacker, path: string, body: object): Promise<Answer<RecordBody>> =>
  call<RecordBody>(`/api/v1/${path}`, { method: 'POST', body, key })

/** Creates captures until the attack ends or the service refuses more. */
async function create(attacker: Attacker, count: number, body: (n: number) => object): Promise<RecordBody[]> {
  const made: RecordBody[] = []
  for (let n = 0; n < count && !attacker.signal.aborted; n++) {
    const { status, body: record } = await post(attacker, 'screenshots', body(n))
    if (status === 202) made.push(record)
    else if (status === 429 || status === 503) await pause(2_000)
    else throw new Error(`create answered ${status}: ${JSON.stringify(record)}`)
  }
  return made
}

const capture =
  (options: object, url: string) =>
  (attacker: Attacker, count = 10) =>
    create(attacker, count, () => ({ url, options }))
const page = (script: string, more = ''): string => `<!doctype html><title>x</title>${more}<body>x<script>${script}</script>`
const ofHtml =
  (html: string, options: object = {}, count = 10) =>
  async (attacker: Attacker): Promise<void> => {
    await create(attacker, count, () => ({ options: { ...small, html, ...options } }))
  }

async function whenDone(attacker: Attacker, { id }: RecordBody): Promise<RecordBody> {
  while (!attacker.signal.aborted) {
    const { body } = await call<RecordBody>(`/api/v1/screenshots/${id}?wait=10`, { key: attacker.key })
    if (body.status !== 'pending') return body
  }
  throw new Error('the attack ended')
}

const WORDS = 'lorem ipsum '.repeat(40_000)

/** Holds this many bytes of memory, page by page, so that they are resident. */
const HOLDS_MEMORY = `const all=[];for(let n=0;n<13;n++){const a=new Uint8Array(66e6);for(let i=0;i<a.length;i+=4096)a[i]=1;all.push(a)};window.all=all`

/** A small PNG file of a large black square, with one bit for each pixel. @param side in pixels */
const craftedPng = (side: number): Buffer =>
  wrapPng({ width: side, height: side, depth: 1, type: 0 }, deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8)))))

/** Everything that the issue lists, and more. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'receivers that flood',
    run: async (attacker) => {
      const floods = Object.keys(FLOODS).slice(0, 8)
      const hooks = floods.map((flood) => ({
        name: flood,
        url: `${attacker.receiver}/${flood}`,
        events: ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'],
      }))
      for (const hook of hooks) await post(attacker, 'webhooks', hook)
      await capture(small, `${SITE}/quadrants`)(attacker, 60)
    },
  },
  { name: 'pages that hold 858 MB', run: ofHtml(page(HOLDS_MEMORY), { delay: 5_000, retries: 0 }, 6) },
  {
    name: 'pictures of different shapes',
    run: async (attacker) => {
      const shape = (width: number, height: number) =>
        page('', `<style>body{margin:0;width:${width}px;height:${height}px;background:linear-gradient(red,blue)}</style>`)
      const [wide] = await create(attacker, 1, () => ({ options: { html: shape(50_000, 10), viewport_width: 5_000, viewport_height: 10 } }))
      const { id } = await whenDone(attacker, wide!)
      const tall = { html: shape(10, 50_000), viewport_width: 10, viewport_height: 100, full_page: true, full_page_max_height: 50_000 }
      await create(attacker, 4, () => ({ options: { ...tall, compare_to: id } }))
    },
  },
  {
    // A runner that somebody took over may write such a file.
    name: 'crafted baselines',
    run: async (attacker) => {
      const [made] = await create(attacker, 1, () => ({ url: `${SITE}/quadrants`, options: small }))
      const { id, storage_path } = await whenDone(attacker, made!)
      await replaceFile(id, String(storage_path), craftedPng(30_000))
      await create(attacker, 4, () => ({ url: `${SITE}/quadrants`, options: { ...small, compare_to: id } }))
    },
  },
  {
    name: 'pages that never end',
    run: async (attacker) => void (await capture({ ...small, ...LONGEST, wait_for_function: 'false' }, `${SITE}/quadrants`)(attacker)),
  },
  {
    name: 'pictures that are enlarged',
    run: async (attacker) => {
      const huge = { ...small, image_width: 10_000, image_height: 16_383, image_fit: 'fill', image_upscale: true }
      for (const format of ['webp', 'avif', 'png'])
        await post(attacker, 'screenshots', { url: `${SITE}/quadrants`, options: { ...huge, format } })
    },
  },
  {
    name: 'regular expressions that backtrack',
    run: ofHtml(page(`/^(a+)+$/.test('a'.repeat(40)+'b')`), LONGEST),
  },
  { name: 'endless redirects', run: async (attacker) => void (await capture(small, `${SITE}/redirect-loop`)(attacker, 30)) },
  { name: '1,000 frames', run: ofHtml(page('', '<iframe srcdoc="<p>x<canvas></canvas>" loading=eager></iframe>'.repeat(1_000)), LONGEST) },
  {
    name: 'giant style sheets',
    run: ofHtml(page('', `<style>${'.a>.b~.c:not(.d):has(.e){color:red}'.repeat(25_000)}</style>${'<p class="a b c">x'.repeat(5_000)}`)),
  },
  {
    name: 'floods of console messages',
    run: ofHtml(page(`setInterval(()=>{for(let n=0;n<1e4;n++)console.log('x'.repeat(1e3))},0)`), { save_console: true, delay: 5_000 }),
  },
  {
    name: 'every file beside the picture',
    run: ofHtml(page('', WORDS), {
      save_html: true,
      save_text: true,
      save_mhtml: true,
      save_har: true,
      save_console: true,
      save_accessibility_tree: true,
      thumbnail_width: 2_000,
      metadata_links: true,
      metadata_fonts: true,
      metadata_palette: true,
    }),
  },
  {
    name: 'the largest HAR and text',
    run: ofHtml(page(`for(let n=0;n<3000;n++)fetch('${SITE}/image?n='+n).catch(()=>{})`, WORDS), {
      save_har: true,
      save_text: true,
      delay: 5_000,
    }),
  },
  {
    name: 'the largest pictures',
    run: ofHtml(page('', '<style>body{height:50000px;background:repeating-linear-gradient(45deg,red,blue 7px)}</style>'), {
      viewport_width: 1_920,
      full_page: true,
      full_page_max_height: 50_000,
    }),
  },
  {
    name: 'the largest videos',
    run: async (attacker) => {
      const video = { format: 'mp4', video_duration: 120, video_fps: 30, viewport_width: 1_280, viewport_height: 720 }
      for (let n = 0; n < 4; n++) await post(attacker, 'videos', { url: `${SITE}/animated`, options: video })
    },
  },
  {
    name: 'downloads that are not read',
    run: async (attacker) => {
      const [made] = await create(attacker, 1, () => ({
        options: { html: page('', WORDS), viewport_width: 1_920, full_page: true, save_html: true },
      }))
      const { download_url } = await whenDone(attacker, made!)
      const unread = Array.from({ length: 300 }, () =>
        fetch(absolute(String(download_url)), { signal: attacker.signal }).catch(() => undefined),
      )
      await Promise.all(unread)
      await pause(20_000, undefined, { signal: attacker.signal }).catch(() => {})
    },
  },
  {
    name: 'webhooks to the service itself',
    run: async (attacker) => {
      const url = 'https://tintype-api-gateway.tintype.svc.cluster.local:8080/api/v1/screenshots'
      const refused = [
        await post(attacker, 'webhooks', { name: 'self', url, events: ['screenshot.queued', 'screenshot.completed'] }),
        await post(attacker, 'screenshots', { url: `${SITE}/quadrants`, options: { ...small, webhook_url: url } }),
      ]
      if (refused.some(({ status }) => status !== 400)) throw new Error('the service accepts its own address as a webhook')
    },
  },
  {
    name: 'large bodies',
    run: async (attacker) => {
      const body = { options: { ...small, html: 'x'.repeat(2_000_000) } }
      await Promise.all(Array.from({ length: 30 }, () => post(attacker, 'screenshots', body)))
    },
  },
  {
    name: 'busy scripts in workers',
    run: ofHtml(page(`for(let n=0;n<${availableParallelism() * 8};n++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])))`), {
      ...LONGEST,
      delay: 20_000,
    }),
  },
  // The last one: its objects take minutes to be created and deleted.
  {
    name: '10,000 schedules at the same second',
    run: async ({ apply, account }) => {
      const at = new Date(Date.now() + 60_000)
      const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
      const schedule = (n: number) => ({
        apiVersion: API_VERSION,
        kind: 'ScreenshotSchedule',
        metadata: { name: `${account}-${n}`, labels: { [ATTACKER_LABEL]: account } },
        spec: { accountName: account, schedule: cron, template: { url: `${SITE}/quadrants` } },
      })
      for (let first = 0; first < 10_000; first += 1_000) await apply(Array.from({ length: 1_000 }, (_, n) => schedule(first + n)))
    },
  },
]

/** A public address that is routed to the flooding receiver. */
const ADDRESS = '203.0.114.50'

/** Starts a webhook endpoint that floods the operator, with a certificate that the operator trusts. Resolves to its URL. */
export async function startFloodsInCluster(t: Test): Promise<string> {
  const { certificate, key } = await createCertificate(webhookAuthority, 'floods', { user: 'receiver', names: [`IP:${ADDRESS}`] })
  t.teardown(() => Promise.all([certificate, key].map((file) => rm(file, { force: true }))))
  await startInCluster(t, 'attack/public-flooding-program.ts', { address: ADDRESS, certificate, key } satisfies PublicSite)
  return `https://${ADDRESS}`
}

/** Replaces the picture of a screenshot in the bundled MinIO and in the record, as a runner could that somebody took over. */
async function replaceFile(id: string, key: string, content: Buffer): Promise<void> {
  await putObject(key, content)
  // The admission policy lets only the operator and the runner write results. kubectl reads the object first, which the operator's Role does not allow.
  const operator = `system:serviceaccount:${releaseNamespace}:${releaseName}-operator`
  const etag = createHash('md5').update(content).digest('hex') // of an object that was stored in one part
  const result = JSON.stringify({ status: { result: { etag, fileSizeBytes: content.length } } })
  const patch = ['patch', 'screenshot', id.replace('_', '-'), '--subresource=status', '--type=merge', '-p', result]
  await kubectl([...patch, '-n', releaseNamespace, '--as', operator, '--as-group', 'system:masters'])
}

/** Stores an object as the root user of the store. */
async function putObject(key: string, content: Buffer): Promise<void> {
  const store = `${releaseName}-minio`
  const [user, password] = await Promise.all(
    ['root-user', 'root-password'].map((field) => readSecret(`${store}-root`, field, releaseNamespace)),
  )
  const address = await kubectl(['get', 'service', store, '-n', releaseNamespace, '-o', 'jsonpath={.spec.clusterIP}'])
  await withEnds(async (ends) => {
    const file = path.join(await createDirectory(ends, 'object'), 'content')
    await writeFile(file, content)
    const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${user}:${password}`]
    const flags = ['--silent', '--show-error', '--fail', ...signing, '--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD']
    const url = `http://${address}:9000/tintype/${key}`
    await inside('curl', [...flags, '--upload-file', file, url], { timeoutMilliseconds: 120_000 })
  })
}
