/** The last step of `npm start`: captures a page of the corpus through the REST API, and downloads the file from its link. */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError } from '../host/exec.ts'
import { choices, environmentFile, firstScreenshotFile, paths, releaseName, releaseNamespace, repository } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { locatePrograms } from '../programs/programs.ts'

const pngMagic = Buffer.from('89504e470d0a1a0a', 'hex')
const keyMilliseconds = 60_000

/** On a busy cluster the capture may have to wait in the queue. */
const captureMilliseconds = 120_000
const gateway = `deployment/${releaseName}-api-gateway`

interface ScreenshotRecord {
  id: string
  status: 'pending' | 'completed' | 'failed'
  download_url?: string | null
  error?: { code: string; message: string } | null
}

export interface Access {
  url: string
  apiKey: string
}

/** Reads the first API key from its Secret and writes `.tintype/env`. If the Secret was deleted, as it recommends, uses the key of an earlier start. */
export async function writeEnvironment(url: string): Promise<Access> {
  const apiKey = (await findSecretKey()) ?? parseEnvironment(await readFile(environmentFile, 'utf8').catch(() => '')).get('TINTYPE_API_KEY')
  if (apiKey === undefined) {
    const remedy = `create an API key with kubectl apply of an ApiKey, and write it to ${environmentFile}`
    throw new StepError(`Secret ${releaseName}-initial-api-key does not exist, and there is no key of an earlier start`, { remedy })
  }
  await writeAccess({ url, apiKey }, environmentFile)
  return { url, apiKey }
}

/** Writes the URL, the key and the kubeconfig to a file, and links the tools into the directory `bin` beside it. */
export async function writeAccess({ url, apiKey }: Access, file: string): Promise<void> {
  const kubeconfig = choices.cluster === 'current' ? choices.kubeconfig : paths.kubeconfig
  const lines = [`TINTYPE_URL=${url}`, `TINTYPE_API_KEY=${apiKey}`, ...(kubeconfig === undefined ? [] : [`KUBECONFIG=${kubeconfig}`])]
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  await linkTools(path.join(path.dirname(file), 'bin'))
}

/** Links the cluster's kubectl and helm, so that the machine needs none. */
async function linkTools(directory: string): Promise<void> {
  if (choices.cluster === 'current') return
  const { kubernetes } = await locatePrograms()
  await mkdir(directory, { recursive: true })
  for (const name of ['kubectl', 'helm']) {
    const link = path.join(directory, name)
    await rm(link, { force: true })
    await symlink(path.join(kubernetes, name), link)
  }
}

/** `NAME=value` lines. */
function parseEnvironment(text: string): Map<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  return new Map(pairs)
}

/** Captures the page and saves the file. Resolves to its path and size. */
export async function captureFirst({ url, apiKey }: Access, page: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  let record = await send(`${url}/api/v1/screenshots?wait=25`, { method: 'POST', headers, body: JSON.stringify({ url: page }) })
  const end = performance.now() + captureMilliseconds
  while (record.status === 'pending' && performance.now() < end)
    record = await send(`${url}/api/v1/screenshots/${record.id}?wait=25`, { headers })
  if (!record.download_url) {
    const reason = record.error ? `${record.error.code}, ${record.error.message}` : 'no runner started it'
    throw new StepError(`the capture is ${record.status}: ${reason}`, {
      remedy: `kubectl describe screenshots -n ${releaseNamespace} ${record.id.replace('_', '-')}`,
    })
  }
  const picture = await download(new URL(record.download_url, url).href)
  await writeFile(firstScreenshotFile, picture)
  return `${path.relative(repository, firstScreenshotFile)}, ${(picture.length / 1024).toFixed(1)} KiB`
}

/** A link that signs in to the web console after a click, once and within ten minutes. */
export async function consoleLink({ url, apiKey }: Access): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const { data } = await send<{ data: { path: string } }>(`${url}/console/codes`, { method: 'POST', headers })
  return url + data.path
}

async function send<T = ScreenshotRecord>(url: string, request: RequestInit): Promise<T> {
  const response = await fetch(url, request)
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as T
  throw new StepError(`the API responded with ${response.status}: ${text.slice(0, 400)}`, {
    remedy: `kubectl logs -n ${releaseNamespace} ${gateway}`,
  })
}

/** @throws StepError unless the response is a PNG. */
async function download(link: string): Promise<Buffer> {
  const response = await fetch(link)
  const picture = Buffer.from(await response.arrayBuffer())
  if (response.ok && picture.subarray(0, pngMagic.length).equals(pngMagic)) return picture
  throw new StepError(`${link.replace(/\?.*/, '')} responded with ${response.status} and no PNG`, {
    remedy: `kubectl logs -n ${releaseNamespace} deployment/${releaseName}-api-gateway`,
  })
}

async function findSecretKey(): Promise<string | undefined> {
  const read = async () => {
    try {
      const args = ['get', 'secret', `${releaseName}-initial-api-key`, '-n', releaseNamespace, '-o', 'jsonpath={.data.api-key}']
      return Buffer.from(await kubectl(args), 'base64').toString()
    } catch (error) {
      if (error instanceof CommandError) return undefined
      throw error
    }
  }
  const hasEarlierKey = await readFile(environmentFile).then(Boolean, () => false)
  if (hasEarlierKey) return read()
  return waitFor('first API key', read, { timeoutMilliseconds: keyMilliseconds, intervalMilliseconds: 500 }).catch(() => undefined)
}
