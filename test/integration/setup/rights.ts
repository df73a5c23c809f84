import { type Client, CopyConditions } from 'minio'

/** An object that the administrator has created. */
export const SOURCE = 'users/source.png'

/** True if the store did the work, or would have for an existing object. @throws for other errors than a refusal */
export const isAllowed = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === 'NoSuchKey') return true
      if (error.code === 'AccessDenied' || error.code === 'Forbidden') return false
      throw error
    },
  )

/** What a client may do in a folder of the bucket, in alphabetical order. */
export async function tryRights(client: Client, admin: Client, folder: string, bucket = 'tintype'): Promise<string[]> {
  for (const name of ['there', 'old']) await admin.putObject(bucket, `${folder}/${name}`, 'x')
  const works = {
    copy: () => client.copyObject(bucket, `${folder}/copy`, `/${bucket}/${SOURCE}`, new CopyConditions()),
    delete: () => client.removeObject(bucket, `${folder}/old`),
    get: () => client.getObject(bucket, `${folder}/there`),
    list: () => client.listObjectsV2(bucket, `${folder}/`, true).toArray(),
    put: () => client.putObject(bucket, `${folder}/new`, 'x'),
  }
  const found: string[] = []
  for (const [what, work] of Object.entries(works)) if (await isAllowed(work())) found.push(what)
  return found
}
