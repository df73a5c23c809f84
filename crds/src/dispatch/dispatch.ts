import { z } from 'zod'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'
import { CaptureOptions } from '../options/catalogue.ts'
import { PrivateOptions } from '../options/private.ts'

// The protocol between operator and runner, HTTP on the runner's port.
//
//   GET    /identity        → 200 Identity                             which key to encrypt to, proved by the pod's token
//   POST   /captures        → 202 | 200 CaptureState | 409 CaptureState  body: JWE of CaptureOrder; 200: known already; 409: busy with another
//   GET    /captures/:uid   → 200 CaptureState | 404 [GivenUp]           `Prefer: wait=<seconds>`: answers once it is not running any more;
//                                                                      `wait=<seconds>, until=taken`: already once its picture is being taken
//   DELETE /captures/:uid   → 202 | 404                                 cancels: nothing is uploaded or reported after it
//   GET    /healthz, /readyz                                            for the kubelet; the only paths without a signature
//
// Every other request carries `Authorization: Bearer <JWS>`: EdDSA, audience = the pod's uid, at most 30 s old, with `method`, `path` and
// the base64url SHA-256 of the body (`sha256`). `jti` is `<uid>/<attempt>` for an order and chance for the rest; a jti is taken once.
// Anything else is answered with 401 before it is parsed.

/** Seconds that a signature holds. */
export const SIGNATURE_SECONDS = 30

/** What a signed request says of itself. */
export const SignedRequest = z.object({ method: z.string(), path: z.string(), sha256: z.string(), jti: z.string().max(128) })
export type SignedRequest = z.infer<typeof SignedRequest>

/** How the browser is fenced in, as the runner found it at boot. */
export const SandboxReport = z.object({
  /** Chromium's own sandbox is on. */
  chromiumSandbox: z.boolean(),
  /** The browser runs in namespaces of its own, whose only way out is the egress guard. */
  jail: z.boolean(),
  /** Why not, and what to do; empty when both hold. */
  detail: z.string().max(1024),
})
export type SandboxReport = z.infer<typeof SandboxReport>

/** A runner's answer to who it is. `token` is a projected token of audience `tintype-dispatch`: TokenReview tells the pod's uid. */
export const Identity = z.object({
  publicKey: z.object({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string() }),
  token: z.string(),
  sandbox: SandboxReport,
  version: z.string(),
  /** Captures begun in this pod's life, and the account of the current browser: a new leader must know a used pod from a fresh one. */
  captures: z.int().min(0).optional(),
  accountName: z.string().max(63).optional(),
  /** When the newest of the filter lists was made; absent: the image carries none. */
  listsUpdated: z.iso.datetime().optional(),
})
export type Identity = z.infer<typeof Identity>

/** A presigned PUT of one object; `If-None-Match: *` is among the headers. */
export const UploadAddress = z.object({ url: z.string(), headers: z.record(z.string(), z.string()), maxBytes: z.int() })
export type UploadAddress = z.infer<typeof UploadAddress>

/** One capture to do. Travels as compact JWE (ECDH-ES, A256GCM) to the runner's key. */
export const CaptureOrder = z.object({
  uid: z.string(),
  name: z.string(),
  namespace: z.string(),
  accountName: z.string(),
  /** Batch that the Screenshot was created with. */
  batchId: z.string().max(64).optional(),
  attempt: z.int().min(1),
  url: z.string(),
  options: CaptureOptions.optional(),
  /** Never logged, never reported. */
  privateOptions: PrivateOptions.optional(),
  upload: UploadAddress,
  /** Where each file beside the picture goes. */
  artifacts: z
    .array(z.object({ type: z.enum(ARTIFACT_TYPES), upload: UploadAddress }))
    .max(16)
    .optional(),
  /** Unix time in milliseconds at which the attempt is over. */
  deadline: z.int(),
  traceparent: z.string().optional(),
})
export type CaptureOrder = z.infer<typeof CaptureOrder>

/** What a runner says of a capture: `reporting` has its file stored and repeats the status patch, `done` has been reported. */
export const CaptureState = z.object({
  uid: z.string(),
  attempt: z.int(),
  state: z.enum(['running', 'reporting', 'done']),
  /** Its page is ready, and its picture is being taken or stored: the runner begins another capture meanwhile. */
  isTaken: z.boolean().optional(),
})
export type CaptureState = z.infer<typeof CaptureState>

/** Code of a capture that was given up because the runner was asked to go. */
export const STOPPING = 'STOPPING'

/**
 * What a runner says of an attempt that it has given up without a report: nothing of it is uploaded or reported any more. `code` is that of
 * the failure, or {@link STOPPING}.
 */
export const GivenUp = z.object({
  uid: z.string(),
  attempt: z.int(),
  code: z.string().max(64),
  message: z.string().max(1024),
})
export type GivenUp = z.infer<typeof GivenUp>

/** Most seconds for which a runner keeps a question open. */
export const MAX_WAIT_SECONDS = 30
