// The objects of Kubernetes that run a fleet: an Indexed Job whose pods are shards, a CronJob of such Jobs, and a
// Deployment of workers. A pod has no rights in the cluster, writes to two empty folders alone, and ends between requests.
import { defined, type Json, type JsonObject } from '../model/index.js';

export interface ManifestOptions {
  /** Of the job, which is the name of its run; of the cron job, or of the deployment. */
  readonly name: string;
  readonly namespace?: string;
  readonly image: string;
  readonly serviceAccount?: string;
  /** Secrets whose keys become variables of every pod. */
  readonly secrets: readonly string[];
  /** Words after `trueup`. */
  readonly words: readonly string[];
}

export interface JobOptions extends ManifestOptions {
  /** Pods of one job. */
  readonly shards: number;
  /** Seconds after which the job is ended. */
  readonly deadline?: number;
}

/** User and group of the image in the `Dockerfile`. */
const USER = 65_532;
/** The folder of the fleet, as in the image. */
export const FOLDER = '/project';
/** Seconds: a request that was sent may take 30, and what it wrote is read back and recorded. */
const GRACE = 120;
/** Of `npm run bench -- fleet`: one core is used for 32 lanes, and less than 200 MiB for 2,000 tenants. */
const resources = {
  requests: { cpu: '500m', memory: '256Mi' },
  limits: { cpu: '1', memory: '512Mi' },
};
const folders = { tmp: '/tmp', trueup: `${FOLDER}/.trueup` } as const;
const DAYS = 24 * 60 * 60;
/** Exit codes that are the same if the pod runs again: blocked by a policy, a person decides, stale. */
const FINAL = [3, 5, 6];

const label = 'app.kubernetes.io';
const labelsOf = ({ name }: ManifestOptions): JsonObject => ({
  [`${label}/name`]: 'trueup',
  [`${label}/instance`]: name,
  [`${label}/component`]: 'fleet',
});

const objectOf = (
  kind: readonly [apiVersion: string, kind: string],
  options: ManifestOptions,
  spec: JsonObject,
): JsonObject => ({
  apiVersion: kind[0],
  kind: kind[1],
  metadata: {
    name: options.name,
    ...defined({ namespace: options.namespace }),
    labels: labelsOf(options),
  },
  spec,
});

/** @param env variables beside those of the secrets */
function podOf(options: ManifestOptions, restartPolicy: string, env: readonly Json[]): JsonObject {
  const { image, secrets, words, serviceAccount } = options;
  return {
    metadata: { labels: labelsOf(options) },
    spec: {
      restartPolicy,
      ...defined({ serviceAccountName: serviceAccount }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'trueup',
          image,
          args: words,
          workingDir: FOLDER,
          ...(env.length > 0 && { env }),
          envFrom: secrets.map((name) => ({ secretRef: { name } })),
          resources,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: Object.entries(folders).map(([name, mountPath]) => ({ name, mountPath })),
        },
      ],
      volumes: Object.keys(folders).map((name) => ({ name, emptyDir: { sizeLimit: '1Gi' } })),
    },
  };
}

/** The pods of a job have one run, which is named like the job: created again, it is resumed. */
function jobSpecOf(options: JobOptions): JsonObject {
  const { shards, words, deadline } = options;
  const run = {
    name: 'RUN',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-name']" } },
  };
  const own = { ...options, words: [...words, '--run', '$(RUN)'] };
  return {
    completionMode: 'Indexed',
    completions: shards,
    parallelism: shards,
    ...defined({ activeDeadlineSeconds: deadline }),
    backoffLimitPerIndex: 2,
    maxFailedIndexes: shards,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        {
          action: 'FailIndex',
          onExitCodes: { containerName: 'trueup', operator: 'In', values: FINAL },
        },
      ],
    },
    ttlSecondsAfterFinished: 7 * DAYS,
    template: podOf(own, 'Never', [run, { name: 'JOB_COMPLETIONS', value: String(shards) }]),
  };
}

export const jobOf = (options: JobOptions): JsonObject =>
  objectOf(['batch/v1', 'Job'], options, jobSpecOf(options));

export const cronJobOf = (options: JobOptions & { readonly schedule: string }): JsonObject =>
  objectOf(['batch/v1', 'CronJob'], options, {
    schedule: options.schedule,
    timeZone: 'Etc/UTC',
    concurrencyPolicy: 'Forbid',
    startingDeadlineSeconds: 60 * 60,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 7,
    jobTemplate: { metadata: { labels: labelsOf(options) }, spec: jobSpecOf(options) },
  });

/** @param options.queue the secret that holds the address of the queue as `TRUEUP_QUEUE` */
export const workersOf = (
  options: ManifestOptions & { readonly replicas: number; readonly queue: string },
): JsonObject =>
  objectOf(['apps/v1', 'Deployment'], options, {
    replicas: options.replicas,
    selector: { matchLabels: labelsOf(options) },
    template: podOf(options, 'Always', [
      {
        name: 'TRUEUP_QUEUE',
        valueFrom: { secretKeyRef: { name: options.queue, key: 'TRUEUP_QUEUE' } },
      },
    ]),
  });
