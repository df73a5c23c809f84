/** Signatures of a release with a key, without any service on the internet: images, chart, SBOMs and the list of checksums. */
import { run } from '../cluster/host/exec.ts'
import { isLoopback } from './settings.ts'
import { locateTool } from './tools.ts'

/** No transparency log: the signature proves that the owner of the key made it, and nothing more. */
const offline = ['--tlog-upload=false', '--use-signing-config=false', '--yes']

const cosign = (args: readonly string[], environment: Record<string, string> = {}): Promise<string> =>
  run(locateTool('cosign'), args, { environment })

const registryFlags = (reference: string): string[] => (isLoopback(reference) ? ['--allow-http-registry', '--allow-insecure-registry'] : [])

/** Creates `cosign.key` and `cosign.pub` in a directory. */
export async function createKeyPair(directory: string, password: string): Promise<void> {
  await run(locateTool('cosign'), ['generate-key-pair'], { directory, environment: { COSIGN_PASSWORD: password } })
}

/** Signs an image or chart in the registry, and all images of an index. */
export async function signImage(reference: string, key: string): Promise<void> {
  await cosign(['sign', '--key', key, ...offline, '--recursive', ...registryFlags(reference), reference])
}

/** Attaches an SBOM to an image in the registry, signed. */
export async function attachSbom(reference: string, sbom: string, key: string): Promise<void> {
  await cosign(['attest', '--key', key, ...offline, '--type', 'cyclonedx', '--predicate', sbom, ...registryFlags(reference), reference])
}

/** Signs a file. Writes the signature to `<file>.sigstore.json`. */
export async function signFile(file: string, key: string): Promise<void> {
  await cosign(['sign-blob', '--key', key, ...offline, '--bundle', `${file}.sigstore.json`, file])
}

/** Arguments with which everyone verifies an image, without the name of the program. */
const verifyImageArguments = (reference: string, publicKey: string): string[] => [
  ...['verify', '--key', publicKey, '--insecure-ignore-tlog=true'],
  ...registryFlags(reference),
  reference,
]

/** Verifies the signature of an image. @throws CommandError when there is none by this key */
export const verifyImage = (reference: string, publicKey: string): Promise<string> => cosign(verifyImageArguments(reference, publicKey))

/** Verifies the SBOM of an image. Resolves to its CycloneDX document. @throws CommandError when there is none by this key */
export async function verifySbom(reference: string, publicKey: string): Promise<string> {
  const flags = ['--key', publicKey, '--insecure-ignore-tlog=true', '--type', 'cyclonedx']
  const output = await cosign(['verify-attestation', ...flags, ...registryFlags(reference), reference])
  const { payload } = JSON.parse(output.trim().split('\n').at(-1)!) as { payload: string }
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: object }
  return JSON.stringify(statement.predicate)
}

/** Verifies the signature of a file. @throws CommandError when the file or its signature was changed */
export async function verifyFile(file: string, publicKey: string): Promise<void> {
  await cosign(['verify-blob', '--key', publicKey, '--insecure-ignore-tlog=true', '--bundle', `${file}.sigstore.json`, file])
}

/** Writes the public key that belongs to a private one. */
export const readPublicKey = (key: string): Promise<string> => cosign(['public-key', '--key', key])
