import io.tus.java.client.ProtocolException;
import io.tus.java.client.TusClient;
import io.tus.java.client.TusURLStore;
import io.tus.java.client.TusUpload;
import io.tus.java.client.TusUploader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Uploads a file with tus-java-client: ENDPOINT TOKEN FILE SHA256 STORE, where STORE may be empty. */
public final class Upload {
  private static final int PIECE_BYTES = 1 << 20;

  public static void main(String[] arguments) throws Exception {
    TusClient client = new TusClient();
    client.setUploadCreationURL(URI.create(arguments[0]).toURL());
    client.setHeaders(Map.of("Authorization", "Bearer " + arguments[1]));
    if (!arguments[4].isEmpty()) {
      client.enableResuming(new Store(Path.of(arguments[4])));
    }
    TusUpload upload = new TusUpload(new File(arguments[2]));
    upload.setMetadata(Map.of("sha256", arguments[3]));
    try {
      send(client.resumeOrCreateUpload(upload));
    } catch (ProtocolException | IOException error) {
      System.out.println(error);
      System.exit(1);
    }
  }

  private static void send(TusUploader uploader) throws ProtocolException, IOException {
    uploader.setChunkSize(PIECE_BYTES / 8);
    uploader.setRequestPayloadSize(PIECE_BYTES);
    while (uploader.uploadChunk() > -1) {
      // each call sends one more chunk
    }
    uploader.finish();
  }

  /** Keeps the upload's URL in a file. */
  private record Store(Path file) implements TusURLStore {
    @Override
    public void set(String fingerprint, URL url) {
      try {
        Files.writeString(file, url.toString());
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    }

    @Override
    public URL get(String fingerprint) {
      try {
        return Files.exists(file) ? URI.create(Files.readString(file)).toURL() : null;
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    }

    @Override
    public void remove(String fingerprint) {
      file.toFile().delete();
    }
  }
}
