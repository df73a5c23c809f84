import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { inside } from '../../../cluster/kubernetes/network.ts'

/** A file that replaces the picture of a completed screenshot. `key`: its key in the bucket. */
export interface Replacement {
  id: string
  key: string
  content: Buffer
}

/** A release with the bundled MinIO. */
interface Release {
  namespace: string
  name: string
}

/** Replaces the picture of a screenshot in the store and in the record, as a runner could that somebody took over. */
export async function replaceFile({ id, key, content }: Replacement, { namespace, name }: Release): Promise<void> {
  await putObject(key, content, { namespace, name })
  // The admission policy lets only the operator and the runner write results. kubectl reads the object first, which the operator's Role does not allow.
  const operator = `system:serviceaccount:${namespace}:${name}-operator`
  const etag = createHash('md5').update(content).digest('hex') // of an object that was stored in one part
  const result = JSON.stringify({ status: { result: { etag, fileSizeBytes: content.length } } })
  const patch = ['patch', 'screenshot', id.replace('_', '-'), '--subresource=status', '--type=merge', '-p', result]
  await kubectl([...patch, '-n', namespace, '--as', operator, '--as-group', 'system:masters'])
}

/** Stores an object as the root user of the bundled store. */
async function putObject(key: string, content: Buffer, { namespace, name }: Release): Promise<void> {
  const [user, password] = await Promise.all(
    ['root-user', 'root-password'].map(async (field) => {
      const query = `jsonpath={.data.${field}}`
      return Buffer.from(await kubectl(['get', 'secret', `${name}-minio-root`, '-n', namespace, '-o', query]), 'base64').toString()
    }),
  )
  const address = await kubectl(['get', 'service', `${name}-minio`, '-n', namespace, '-o', 'jsonpath={.spec.clusterIP}'])
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-object-'))
  try {
    const file = path.join(directory, 'content')
    await writeFile(file, content)
    const signing = [
      '--aws-sigv4',
      'aws:amz:us-east-1:s3',
      '--user',
      `${user}:${password}`,
      '--header',
      'x-amz-content-sha256: UNSIGNED-PAYLOAD',
    ]
    const args = ['--silent', '--show-error', '--fail', ...signing, '--upload-file', file, `http://${address}:9000/tintype/${key}`]
    await inside('curl', args, { timeoutMilliseconds: 120_000 })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
