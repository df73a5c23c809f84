import { kubectl } from './environment.ts'

// Runs programs in a runner's pod, with the runner's user, files and network.

/** Directory of the projected token for reports. */
export const KUBERNETES_DIRECTORY = '/var/run/secrets/tintype/kubernetes'
export const DISPATCH_DIRECTORY = '/var/run/secrets/tintype/dispatch'

/**
 * Runs a script (ESM) in a pod. The script gets `input` as a constant, and returns a result with `tell`.
 * @throws with its standard error
 */
export async function execScript<T>(pod: string, script: string, input: unknown = null): Promise<T> {
  const program = `const input = ${JSON.stringify(input)}
const tell = (answer) => process.stdout.write(JSON.stringify(answer))
${script}`
  const node = ['env', `NODE_EXTRA_CA_CERTS=${KUBERNETES_DIRECTORY}/ca.crt`, 'node', '--input-type=module', '-e', program]
  const { code, stdout, stderr } = await kubectl(['exec', pod, '-c', 'runner', '--', ...node])
  if (code !== 0) throw new Error(`in pod ${pod}: ${stderr}`)
  return JSON.parse(stdout) as T
}

/** One request to the API server. */
export interface ApiRequest {
  path: string
  method?: string
  body?: unknown
  contentType?: string
}

export interface ApiAnswer {
  status: number
  /** Message of a Status, or empty. */
  message: string
  body: Record<string, unknown>
}

const CALL = `
import { readFileSync } from 'node:fs'
const { directory, requests } = input
const token = readFileSync(directory + '/token', 'utf8').trim()
const server = 'https://' + process.env.KUBERNETES_SERVICE_HOST + ':' + process.env.KUBERNETES_SERVICE_PORT
const answers = []
for (const { path, method = 'GET', body, contentType = 'application/json' } of requests) {
  const headers = { authorization: 'Bearer ' + token, 'content-type': contentType }
  const response = await fetch(server + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
  const json = JSON.parse(await response.text())
  answers.push({ status: response.status, message: json.message ?? '', body: json })
}
tell(answers)`

/**
 * Sends requests to the API server from inside a pod, with the pod's own token or the token in `directory`. Responses are in the order of
 * the requests.
 */
export const callAsPod = (pod: string, requests: readonly ApiRequest[], directory = KUBERNETES_DIRECTORY): Promise<ApiAnswer[]> =>
  execScript(pod, CALL, { directory, requests })
