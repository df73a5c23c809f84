/** Certificates and kubeconfigs of a throwaway cluster, created with openssl. The keys are elliptic: a dozen takes half a second instead of ten. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run, succeeds } from '../host/exec.ts'

export interface Identity {
  user: string
  groups?: readonly string[]
  /** Subject alternative names in openssl's form: `DNS:localhost`, `IP:127.0.0.1`. */
  names?: readonly string[]
}

export interface CertificatePaths {
  certificate: string
  key: string
}

const lifetimeDays = '365'
const renewWithinSeconds = String(30 * 24 * 3600)

/** The paths of a certificate called `name`. */
export const certificatePaths = (directory: string, name: string): CertificatePaths => ({
  certificate: path.join(directory, `${name}.crt`),
  key: path.join(directory, `${name}.key`),
})

/** True when a certificate exists and is valid for another month. */
export function isFresh(directory: string, name: string): Promise<boolean> {
  const { certificate } = certificatePaths(directory, name)
  return succeeds('openssl', ['x509', '-in', certificate, '-noout', '-checkend', renewWithinSeconds])
}

/** Creates the authority (`ca`) and the key that signs service account tokens (`service-accounts.key`). */
export async function createAuthority(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const { certificate, key } = certificatePaths(directory, 'ca')
  await createKey(path.join(directory, 'service-accounts.key'))
  await createKey(key)
  const subject = ['-subj', '/CN=tintype-local-ca', '-days', lifetimeDays]
  await run('openssl', ['req', '-x509', '-new', '-key', key, '-out', `${certificate}.new`, ...subject])
  await rename(`${certificate}.new`, certificate)
}

/** Creates a certificate for a program or a user, signed by the directory's authority. */
export async function createCertificate(directory: string, name: string, identity: Identity): Promise<CertificatePaths> {
  const { certificate, key } = certificatePaths(directory, name)
  const authority = certificatePaths(directory, 'ca')
  await createKey(key)
  const request = await run('openssl', ['req', '-new', '-key', key, '-subj', subjectOf(identity)])
  const extensions = `${certificate}.ext`
  await writeFile(extensions, `subjectAltName=${(identity.names ?? ['DNS:localhost']).join(',')}\nextendedKeyUsage=clientAuth,serverAuth\n`)
  const signing = ['-CA', authority.certificate, '-CAkey', authority.key, '-set_serial', `0x${crypto.randomUUID().replaceAll('-', '')}`]
  await run('openssl', ['x509', '-req', ...signing, '-days', lifetimeDays, '-extfile', extensions, '-out', `${certificate}.new`], {
    input: request,
  })
  await rm(extensions)
  await rename(`${certificate}.new`, certificate)
  return { certificate, key }
}

/** The distinguished name that Kubernetes reads: CN is the user, each O a group. @throws RangeError on a slash, which would start a new field. */
export function subjectOf({ user, groups = [] }: Identity): string {
  for (const part of [user, ...groups])
    if (part.includes('/')) throw new RangeError(`the name of a certificate must not contain a slash: ${part}`)
  return [...groups.map((group) => `/O=${group}`), `/CN=${user}`].join('')
}

/** The text of a self-contained kubeconfig, which can be copied to another place. */
export async function buildKubeconfig(
  url: string,
  authorityPath: string,
  client: CertificatePaths,
  namespace = 'default',
): Promise<string> {
  const [authority, certificate, key] = await Promise.all(
    [authorityPath, client.certificate, client.key].map(async (file) => (await readFile(file)).toString('base64')),
  )
  return `apiVersion: v1
kind: Config
clusters:
  - name: tintype
    cluster: { server: "${url}", certificate-authority-data: ${authority} }
users:
  - name: tintype
    user: { client-certificate-data: ${certificate}, client-key-data: ${key} }
contexts:
  - name: tintype
    context: { cluster: tintype, user: tintype, namespace: ${namespace} }
current-context: tintype
`
}

async function createKey(file: string): Promise<void> {
  await run('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${file}.new`])
  await rename(`${file}.new`, file)
}
