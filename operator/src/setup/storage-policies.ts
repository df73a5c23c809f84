// What each program may do in the bucket, in the policy language of S3. charts/tintype/README.md has the same for stores of other makers.

const allow = (actions: readonly string[], resources: readonly string[]) => ({
  Effect: 'Allow',
  Action: actions.map((action) => `s3:${action}`),
  Resource: resources.map((resource) => `arn:aws:s3:::${resource}`),
})

const policy = (...statements: object[]) => ({ Version: '2012-10-17', Statement: statements })

/** The operator: everything that is in the bucket, its lifecycle, and nothing beside the bucket. */
export const operatorPolicy = (bucket: string): object =>
  policy(
    allow(
      ['GetBucketLocation', 'ListBucket', 'ListBucketMultipartUploads', 'GetLifecycleConfiguration', 'PutLifecycleConfiguration'],
      [bucket],
    ),
    allow(['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload', 'ListMultipartUploadParts'], [`${bucket}/*`]),
  )

/** The gateway: it reads all, marks what was deleted, removes pictures, and can never put one there. */
export const gatewayPolicy = (bucket: string): object =>
  policy(
    allow(['GetBucketLocation', 'ListBucket'], [bucket]),
    allow(['GetObject'], [`${bucket}/*`]),
    allow(
      ['PutObject'],
      [`${bucket}/records/*`, `${bucket}/rewrites/*`, `${bucket}/batches/*`, `${bucket}/idempotency/*`, `${bucket}/options/*`],
    ),
    allow(['DeleteObject'], [`${bucket}/users/*`, `${bucket}/idempotency/*`]),
  )
