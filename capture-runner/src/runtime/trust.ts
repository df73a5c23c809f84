import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

// Additional certificate authorities for the browser (RunnerPool.spec.egress.extraCaBundle). On Linux, Chromium reads them from the NSS database in its
// user's home directory. The jail gets a copy (jail/hold.sh).

const run = promisify(execFile)

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The PEM certificates in a bundle. Text between them is skipped. */
export const certificatesOf = (bundle: string): string[] => bundle.match(CERTIFICATE) ?? []

/** NSS trust flags: trusted to issue server certificates, but not for mail or code signing. */
const TRUSTED_FOR_SERVERS = 'C,,'

/**
 * Creates the database in `home`, before a browser starts.
 * @param bundle PEM certificates; text between them is skipped
 * @throws when the bundle has no certificate or an invalid one
 */
export async function trustAuthorities(bundle: string, home: string): Promise<void> {
  const certificates = certificatesOf(bundle)
  if (certificates.length === 0) throw new Error('spec.egress.extraCaBundle holds no PEM certificate')
  const directory = path.join(home, '.pki/nssdb')
  await mkdir(directory, { recursive: true })
  const database = ['-d', `sql:${directory}`]
  await run('certutil', [...database, '-N', '--empty-password'])
  for (const [place, certificate] of certificates.entries()) {
    const added = run('certutil', [...database, '-A', '-a', '-n', `pool-${place}`, '-t', TRUSTED_FOR_SERVERS])
    added.child.stdin?.end(certificate)
    await added.catch((cause: unknown) => {
      throw new Error(`spec.egress.extraCaBundle: certificate ${place + 1} cannot be read`, { cause })
    })
  }
}
