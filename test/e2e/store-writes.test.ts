import t from 'tap'
import { FORGED_CONTENT, type RawRequest, unsignedWrites } from '../support/attack/store-attack.ts'
import { type SignedRequest, signStoreRequest } from '../support/attack/store-requests.ts'
import { kubectlJson } from '../support/cluster/environment.ts'
import { createPool, idleRunners, run } from '../support/cluster/pools.ts'
import { execScript } from '../support/cluster/runner-exec.ts'
import { NAMESPACE, STORE } from '../support/cluster/tested-release.ts'

// Uploads with a signature of zeros (CVE-2026-41145, CVE-2026-40344), sent from a runner's pod to the store of the release with its most
// powerful key id. test/integration/storage/unsigned-writes.test.ts is the control: there they succeed on upstream MinIO.

const BUCKET = 'tintype'
const folder = `users/attack-${run}`

interface Answer {
  status: number
  text: string
}

/** Sends requests in the pod; bodies are in base64. */
const SEND = `
const answers = []
for (const { url, method, headers, body } of input) {
  const response = await fetch(url, { method, headers, body: body === undefined ? null : Buffer.from(body, 'base64') })
  answers.push({ status: response.status, text: await response.text() })
}
tell(answers)`

t.test('unsigned uploads to the bundled store are rejected from a runner’s pod', async (t) => {
  const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', `${STORE}-root`])
  const decode = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString()
  const keys = {
    endpoint: `http://${STORE}.${NAMESPACE}.svc:9000`,
    accessKey: decode('root-user'),
    secretKey: decode('root-password'),
  }
  const [pod] = await idleRunners(await createPool(t, 'writes'))
  const send = (requests: object[]): Promise<Answer[]> => execScript<Answer[]>(pod!.name, SEND, requests)
  const sign = (method: string, target: string): { url: string; method: string; headers: SignedRequest['headers'] } => {
    const { url, headers } = signStoreRequest(keys, method, `/${BUCKET}${target}`, 'UNSIGNED-PAYLOAD')
    return { url, method, headers }
  }
  const put = (key: string) => ({ ...sign('PUT', `/${folder}/${key}`), body: Buffer.from('signed').toString('base64') })
  const forged = ({ target, headers, body }: RawRequest) => ({ url: keys.endpoint + target, method: 'PUT', headers, body })

  const [opened] = await send([sign('POST', `/${folder}/part?uploads=`)])
  const uploadId = /<UploadId>(.*?)<\/UploadId>/.exec(opened?.text ?? '')?.[1] ?? ''
  t.not(uploadId, '', 'an upload is open', { answer: opened?.text })
  const parts = `/${folder}/part?uploadId=${encodeURIComponent(uploadId)}`
  const written = ['signed', 'put-chunked', 'put-raw', 'extracted-chunked', 'extracted-raw']
  t.teardown(() => send([sign('DELETE', parts), ...written.map((key) => sign('DELETE', `/${folder}/${key}`))]))

  const attacks = unsignedWrites({ bucket: BUCKET, accessKey: keys.accessKey, folder, uploadId })
  const answers = await send(attacks.map(forged))
  for (const [place, { name }] of attacks.entries()) t.equal(answers[place]?.status, 403, name, { answer: answers[place]?.text })

  const [signed, listed, listedParts] = await send([
    put('signed'),
    sign('GET', `?list-type=2&prefix=${encodeURIComponent(folder)}`),
    sign('GET', parts),
  ])
  t.equal(signed?.status, 200, 'a signed upload is stored')
  t.strictSame(
    [...(listed?.text ?? '').matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key),
    [`${folder}/signed`],
    'no other object is stored',
  )
  t.match(listedParts, { status: 200 })
  t.notMatch(listedParts?.text, /<PartNumber>/, 'no part was written')
  t.notMatch(answers.map(({ text }) => text).join(), FORGED_CONTENT)
})
